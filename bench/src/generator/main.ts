/** A load generator: a process of its own, so that what it costs is neither the server's nor the report's. */
import { CLIENTS } from '../clients/index.js';
import type { Client } from '../clients/client.js';
import { PROGRAMS } from '../programs/index.js';
import type { Program } from '../programs/program.js';
import type { FromGenerator, Outcome, ProgramTask, RequestTask, Task } from './protocol.js';
import { runRequests } from './run.js';

/** Kept from load to load, with their connections. */
const clients = new Map<string, Client>();

function clientOf({ client, params }: RequestTask): Client {
  const key = JSON.stringify([client, params]);
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
