/** A load generator: a process of its own, so that what it costs is neither the server's nor the report's. */
import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { CLIENTS } from '../clients/index.js';
import type { Client } from '../clients/client.js';
import { PROGRAMS } from '../programs/index.js';
import type { Program } from '../programs/program.js';
import type { FromGenerator, Outcome, ProgramTask, RequestTask, Task } from './protocol.js';
import { runRequests } from './run.js';

/** Kept from load to load, with their connections. */
const clients = new Map<string, Client>();

/** Names a client and its parameters. A digest: as JSON, an upload of 99 MiB would hold up this process for seconds, and its connections would time out. */
const keyOf = ({ client, params }: RequestTask): string =>
  createHash('sha256')
    .update(serialize([client, params]))
    .digest('base64');

function clientOf(task: RequestTask): Client {
  const { client, params } = task;
  const key = keyOf(task);
  let made = clients.get(key);
  if (made === undefined) {
    const make = CLIENTS[client];
    if (make === undefined) throw new Error(`no client is called ${client}`);
    clients.set(key, (made = make(params)));
  }
  return made;
}

const tell = (message: FromGenerator): void => void process.send?.(message);

const programs = new Map<string, Promise<Program>>();

function programOf({ program }: ProgramTask): Promise<Program> {
  let made = programs.get(program);
  if (made === undefined) {
    const make = PROGRAMS[program];
    if (make === undefined) throw new Error(`no program is called ${program}`);
    programs.set(program, (made = make()));
  }
  return made;
}

async function run(task: Task): Promise<Outcome> {
  if ('program' in task) return (await programOf(task)).run(task.params);
  return runRequests(clientOf(task), task.load, {
    deadline: task.deadline,
    onProgress: (progress) => tell({ progress }),
  });
}

process.on('message', (task: Task) => {
  run(task).then(
    (outcome) => tell({ outcome }),
    (error: unknown) => tell({ error: (error as Error).message }),
  );
});
process.on('disconnect', () => process.exit());
