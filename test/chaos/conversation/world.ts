/** The gateways of the run, with doubles around them: one with a single model, and one with two. */
import { type Body, type Call, client } from '../../fixtures/platform/agents.js';
import { type Gateway, MEDIA, startGateway, TEST_KEY, TEST_SECRET } from '../../fixtures/gateway.js';
import { startRelay } from '../../fixtures/database/relay.js';
import { startPostgres } from '../attack/postgres.js';
import { partsOf } from '../attack/target.js';
import { type Doubles, settingsWith, startDoubles } from './doubles/doubles.js';
import { ORDER } from './doubles/model.js';
import type { Surroundings } from './faults.js';
import type { Row } from './rows.js';

type Teardown = { teardown(end: () => unknown): void };

/** A gateway and its surroundings. */
export class Side {
  readonly ask: Call;
  #voices: Promise<ReadonlyMap<string, string>> | undefined;
  #knowledge: Promise<string> | undefined;

  constructor(
    readonly gateway: Gateway,
    readonly world: Surroundings,
  ) {
    this.ask = client(gateway.base);
  }

  /** The id of the voice that has the name of a call. */
  async voiceOf(call: string): Promise<string> {
    this.#voices ??= this.#listVoices();
    const id = (await this.#voices).get(call);
    if (id === undefined) throw new Error(`no voice "${call}"`);
    return id;
  }

  async #listVoices(): Promise<ReadonlyMap<string, string>> {
    const { base, authorization } = this.gateway;
    const response = await fetch(`${base}/model?page_size=100`, { headers: authorization });
    const { items } = (await response.json()) as { items: { _id: string; title: string }[] };
    return new Map(items.map(({ _id, title }) => [title, _id]));
  }

  async toolFor({ tools, timeout }: Row, call: string): Promise<string> {
    const { world } = this;
    const url = `${tools === 'mcp' ? world.mcp.url : world.tools.url}/${call}`;
    const definition =
      tools === 'mcp'
        ? { name: 'shop', tool_type: 'mcp' }
        : { name: ORDER, description: 'Orders', method: 'POST', arguments: [] };
    const body = { ...definition, url, ...(timeout !== undefined && { timeout_seconds: timeout }) };
    const made = await this.ask('tools', { body });
    if (made.status !== 201) throw new Error(`tool: ${made.status} ${JSON.stringify(made.body)}`);
    return String(made.body['tool_id']);
  }

  /** A source of knowledge for agents that look things up. */
  knowledge(): Promise<string> {
    return (this.#knowledge ??= this.#makeKnowledge());
  }

  async #makeKnowledge(): Promise<string> {
    const form = new FormData();
    form.append('name', 'Hours');
    form.append('source', new File(['The shop is open until six.'], 'hours.md'));
    const { base } = this.gateway;
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const response = await fetch(`${base}/v1/agent/knowledge-sources`, {
      method: 'POST',
      headers,
      body: form,
    });
    return ((await response.json()) as { knowledge_source_id: string }).knowledge_source_id;
  }

  ordersOf({ tools }: Row, call: string): readonly string[] {
    return tools === 'mcp' ? this.world.mcp.ordersOf(call) : this.world.tools.ordersOf(call);
  }

  #lines(): readonly string[] {
    return this.gateway.stderr().split('\n');
  }

  /** Lines of the log about a session; all of them since that time (Unix, in ms) if it is undefined. */
  linesOf(session: string | undefined, since: number): readonly Body[] {
    const meant = this.#lines().filter((line) => line.startsWith('{') && line.includes(session ?? ''));
    const read = meant.flatMap((line) => {
      try {
        return [JSON.parse(line) as Body];
      } catch {
        return [];
      }
    });
    return session === undefined ? read.filter(({ time }) => Number(time) >= since) : read;
  }
}

export interface World {
  /** With one model and remote engines. */
  readonly one: Side;
  /** The same with two models. */
  readonly two: Side | undefined;
  /** With the engines of the gateway itself, and remote ones behind them. */
  readonly own: Side | undefined;
}

async function sideWith(t: Teardown, doubles: Doubles, settings: Record<string, string>): Promise<Side> {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const database = await startRelay(t, postgres.url);
  const gateway = await startGateway({
    ...{ DATABASE_URL: database.url, SECRETS_KEY: TEST_SECRET, LOG_LEVEL: 'info' },
    ...MEDIA,
    ...settings,
  });
  t.teardown(() => gateway.stop());
  const processes = (role: string): readonly number[] => partsOf({ gateway }).get(role) ?? [];
  return new Side(gateway, { ...doubles, database, processes });
}

/** Engines in processes of the gateway's own, with remote ones behind them. */
export const OWN_ENGINES = {
  TTS_ENGINES: 'flite,openai-compatible',
  STT_ENGINES: 'moonshine,openai-compatible',
};

export interface Wanted {
  /** The names of all calls. */
  readonly calls: readonly string[];
  readonly two: boolean;
  readonly own: boolean;
}

export async function startWorld(t: Teardown, { calls, two: hasTwo, own: hasOwn }: Wanted): Promise<World> {
  const doubles = await startDoubles(t);
  const start = (second: boolean, more: Record<string, string> = {}): Promise<Side> =>
    sideWith(t, doubles, { ...settingsWith(doubles, { calls, second }), ...more });
  const [one, two, own] = await Promise.all([
    start(false),
    hasTwo ? start(true) : undefined,
    hasOwn ? start(false, OWN_ENGINES) : undefined,
  ]);
  return { one, two, own };
}
