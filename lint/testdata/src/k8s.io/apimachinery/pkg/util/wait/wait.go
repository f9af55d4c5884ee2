package wait

import (
	"context"
	"time"
)

func UntilWithContext(ctx context.Context, f func(context.Context), period time.Duration) {}
