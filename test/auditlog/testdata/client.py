"""A controller on the official Python client, with one of three faults: it loses its watch, lists after each watch, or writes in a loop."""
import sys
import time

from kubernetes import client, config, watch

kubeconfig, namespace, fault = sys.argv[1:]
config.load_kube_config(kubeconfig)
api = client.CoreV1Api()


def follow(seconds, **options):
    """Lists, and watches from the version of the list, as the client's documentation recommends."""
    version = api.list_namespaced_config_map(namespace).metadata.resource_version
    stream = watch.Watch().stream(
        api.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=seconds, **options)
    for _ in stream:
        pass


if fault == "lost":
    follow(2)
    try:
        follow(300, _request_timeout=3)  # fails when nothing has changed for three seconds
    except Exception as e:
        print("the thread of the watch ends:", e)
    for n in range(20):  # the program lives
        api.list_namespaced_service(namespace)
        time.sleep(5)
elif fault == "relists":
    for _ in range(5):
        follow(2)
    follow(120)
elif fault == "loop":
    for n in range(80):
        api.patch_namespaced_config_map("prices", namespace, {"data": {"n": str(n)}})
