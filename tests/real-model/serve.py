#!/usr/bin/env python3
"""Serves SmolLM2-135M-Instruct through llama.cpp's own HTTP server, on loopback only.

Prints one line when it is ready; SIGTERM stops it. MODEL and PORT come from the environment.
"""
import os
import signal
import threading

import xllamacpp

stop = threading.Event()
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: stop.set())

params = xllamacpp.CommonParams()
params.model.path = os.environ["MODEL"]
params.hostnames = ["127.0.0.1"]
params.port = int(os.environ["PORT"])
params.n_ctx = 8192
params.n_parallel = 1  # one slot: requests queue, and all but the first reuse the shared prefix
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_gpu_layers = 0
params.cache_prompt = True
params.model_alias = {"smollm2-135m"}
params.use_jinja = True
params.ui = False
params.verbosity = 1

server = xllamacpp.Server(params)
print("ready", server.listening_address, flush=True)
stop.wait()
os._exit(0)
