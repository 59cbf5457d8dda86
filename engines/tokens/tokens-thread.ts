/** The thread that counts tokens: one text after the other. Its `workerData` is the folder of the models. */
import { parentPort, workerData } from 'node:worker_threads';
import { createCounter } from './o200k.js';
import type { CountResult, CountTask } from './tokens.js';

if (!parentPort) throw new Error('The counting thread is started by its counter');
const port = parentPort;
const counter = createCounter(workerData as string);

port.on('message', ({ id, text, limit }: CountTask) => {
  const result: CountResult = { id, count: counter.count(text, limit) };
  port.postMessage(result);
});
