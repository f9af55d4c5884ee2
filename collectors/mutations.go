package collectors

import (
	"fmt"

	"github.com/informer-exporter/informer-exporter/collectors/audit"
)

// mutationSamples is how many objects are added to those that are watched for changes, each time.
const mutationSamples = 10

// checkMutations looks for cached objects that somebody has changed in place.
func (inf *informer) checkMutations(sampler *audit.Sampler) {
	mutated, err := sample(sampler, inf)
	if err != nil {
		// A consumer may have left an object in a state that cannot be written.
		inf.obs.logger.Debug("Looking for changed objects failed", "informer_type", inf.id.Type(), "namespace", inf.id.Scope(), "err", err)
		return
	}
	inf.group.mutations.Add(float64(len(mutated)))
	for _, m := range mutated {
		inf.obs.logger.Warn("A consumer has changed a cached object, which belongs to all of them: copy objects before changing them",
			"informer_type", inf.id.Type(), "namespace", inf.id.Scope(), "object", m.Key, "resourceVersion", m.Version)
	}
}

func sample(sampler *audit.Sampler, inf *informer) (mutated []audit.Mutation, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return sampler.Round(inf.indexer), nil
}
