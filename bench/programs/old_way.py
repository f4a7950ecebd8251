# SPDX-License-Identifier: Apache-2.0
"""Answers placements as services do that are a few lines of Python: each request loads a pipeline of scikit-learn and
XGBoost by joblib and asks it for all devices.

    old_way.py FOLDER DEVICES

Learns the pipeline, prints its port and serves until it is ended."""
import http.server
import json
import pathlib
import sys

import joblib
import numpy
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRegressor

COUNTS = ("conv_layers", "pool_layers", "fc_layers", "filter_details", "total_parameters", "model_input_size",
          "model_output_size")
MODELS, LOADS = 60, (0, .2, .4, .6, .9)


def learn(file, devices):
    """From times of made-up models: work over speed, longer beside other work."""
    draw = numpy.random.default_rng(1)
    models = draw.integers(1, 1000, (MODELS, len(COUNTS))).astype(float)
    models[:, 4] *= 1e5
    rows, seconds = [], []
    for model in models:
        for device in devices:
            for load in LOADS:
                rows.append([*model, device[0], device[1], load])
                seconds.append(model[4] / device[1] * (1 + load))
    pipeline = make_pipeline(StandardScaler(), XGBRegressor(n_estimators=100, max_depth=6, n_jobs=1))
    pipeline.fit(numpy.array(rows), numpy.log(seconds))
    joblib.dump(pipeline, file)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pipeline = joblib.load(self.server.file)
        counts = [call[name] for name in COUNTS]
        logs = pipeline.predict(numpy.array([[*counts, *device] for device in self.server.devices]))
        best = int(logs.argmin())
        body = json.dumps({"model": call["model"], "node": f"node{best}",
                           "predicted_execution_time": float(numpy.exp(logs[best]))}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    file, count = pathlib.Path(sys.argv[1]) / "pipeline.joblib", int(sys.argv[2])
    devices = [(2.0 + number % 8, 1e9 * (1 + number / 10)) for number in range(count)]
    learn(file, devices)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.file, server.devices = file, [(*device, number % 10 / 10) for number, device in enumerate(devices)]
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
