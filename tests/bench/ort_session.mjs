#!/usr/bin/env node
// A session of ONNX Runtime that runs when it is told to, so that its times can be taken in turns with ours.
//   ORT_NODE=<.../onnxruntime-node> node ort_session.mjs MODEL.onnx CASE/test_data_set_0 THREADS PEERS
// Prints one JSON line when ready: {"inputs": {name: dims}, "open": a dim of an input is not fixed}. For each
// line "N" on stdin it runs N times and prints {"wall": [ms...], "cpu": mean ms of a run}.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [model, data, threads, peers] = process.argv.slice(2);
const { readTensorProto } = await import(pathToFileURL(path.join(peers, 'onnx_pb.mjs')));
const ort = createRequire(import.meta.url)(process.env.ORT_NODE || 'onnxruntime-node');
const session = await ort.InferenceSession.create(model, {
  executionProviders: ['cpu'], graphOptimizationLevel: 'all', executionMode: 'sequential', logSeverityLevel: 3,
  intraOpNumThreads: Number(threads), interOpNumThreads: 1 });
const feeds = {}, inputs = {};
session.inputMetadata.forEach((input, i) => {
  const file = path.join(data, `input_${i}.pb`);
  if (!fs.existsSync(file)) throw new Error(`${file}: no data for input ${input.name}`);
  const t = readTensorProto(file);
  feeds[input.name] = new ort.Tensor(t.dtype, t.data, t.dims);
  inputs[input.name] = t.dims;
});
const open = session.inputMetadata.some((m) => (m.shape || []).some((d) => typeof d !== 'number' || d < 0));
console.log(JSON.stringify({ inputs, open }));
for await (const line of readline.createInterface({ input: process.stdin })) {
  const runs = Number(line), wall = [], before = process.cpuUsage();
  for (let i = 0; i < runs; i++) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    wall.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  const used = process.cpuUsage(before);
  console.log(JSON.stringify({ wall, cpu: (used.user + used.system) / 1e3 / runs }));
}
