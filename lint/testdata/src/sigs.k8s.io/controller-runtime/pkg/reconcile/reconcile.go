package reconcile

type Request struct{ Namespace, Name string }

type Result struct{ Requeue bool }
