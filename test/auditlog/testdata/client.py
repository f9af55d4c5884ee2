"""A controller on the official Python client. It lists, and watches from the version of the list, again from the last version when the
watch ends, and lists again when that has expired. A line on standard input makes it write one object over and over."""
import sys
import threading
import time

from kubernetes import client, config, watch

kubeconfig, namespace = sys.argv[1:]
config.load_kube_config(kubeconfig)
api = client.CoreV1Api()


def follow():
    version = ""
    while True:
        try:
            if not version:
                version = api.list_namespaced_config_map(namespace).metadata.resource_version
            for event in watch.Watch().stream(api.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=300):
                version = event["object"].metadata.resource_version
        except client.ApiException as e:
            print("rejected:", e.status)
            if e.status == 410:
                version = ""
            else:
                time.sleep(1)
        except Exception as e:
            print("the watch failed:", e)


def live():
    while True:
        api.list_namespaced_service(namespace)
        time.sleep(1)


for job in follow, live:
    threading.Thread(target=job, daemon=True).start()
for _ in sys.stdin:
    for n in range(80):
        api.patch_namespaced_config_map("stock", namespace, {"data": {"n": str(n)}})
