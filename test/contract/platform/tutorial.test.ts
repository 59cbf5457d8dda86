/** The tutorial in docs/voice-agents.md, run literally: it fills an empty workspace. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { client } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { skipReason } from '../../fixtures/external.js';
import { sharedGateway, TEST_KEY } from '../../fixtures/gateway.js';

const PAGE = await readFile(new URL('docs/voice-agents.md', CHECKOUT), 'utf8');
const [, section = ''] = /\n## Build an agent\n([\s\S]*?)\n## /.exec(PAGE) ?? [];
const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];

t.test(
  'tool, knowledge, agent, publication, sessions, list, where it is heard',
  { skip: skipReason('bash', 'curl') },
  async (t) => {
    const gateway = await sharedGateway(t);
    const folder = await mkdtemp(join(tmpdir(), 'tutorial-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    t.match(commands, 'http://localhost:8080');
    const script = `set -euo pipefail\n${commands.replaceAll('http://localhost:8080', gateway.base)}\necho\necho "$AGENT $SESSION"`;
    const shell = spawn('bash', ['-c', script], { cwd: folder, env: { ...process.env, KEY: TEST_KEY } });
    let printed = '';
    let failures = '';
    shell.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
    shell.stderr.setEncoding('utf8').on('data', (chunk: string) => (failures += chunk));
    const [code] = (await once(shell, 'close')) as [number];
    t.equal(code, 0, `${failures}${printed}`);
    t.equal(failures, '');

    const call = client(gateway.base);
    const [agent = '', session = ''] = printed.trim().split('\n').at(-1)?.split(' ') ?? [];
    const { body } = await call(`agents/${agent}`);
    exactly(t, body, { name: 'Bakery', publication_state: 'live', public_enabled: true });
    exactly(t, (await call(`agents/${agent}/versions/1`)).body, {
      version_title: 'Opening',
      config: { tools: { system_tools: { hang_up_call: true } }, knowledge_base: { enabled: true } },
    });
    exactly(t, (await call(`sessions/${session}`)).body, {
      status: 'pending',
      source: 'api_key',
      metadata: { order: 'A-17' },
    });
    const { sessions } = (await call(`sessions?status=pending&agent_id=${agent}`)).body as {
      sessions: object[];
    };
    exactly(t, sessions, [{ source: 'public' }, { source: 'api_key' }]);
    t.match(printed, `${gateway.base}/console#/talk?agent=${agent}`, 'where the agent is heard');
    t.match(printed, '"transport":"media"', 'what the page was answered');
  },
);
