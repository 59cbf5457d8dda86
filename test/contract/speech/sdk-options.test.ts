/**
 * Every option that a client's SDK can send, sent over the wire in its place: it has the effect that its row in the table of options
 * says (contracts/options/), is ignored without a change of the answer, or is refused in the protocol's own shape.
 */
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import type { OptionRow } from '../../../contracts/options/row.js';
import { rowOf, type Surface } from '../../../contracts/options/table.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { type Answer, senders } from '../../fixtures/speech/sdk-option-senders.js';
import { exampleOf, USUAL } from '../../fixtures/speech/sdk-option-examples.js';
import { type SdkOption, sdkOptions } from '../../fixtures/speech/sdk-options.js';

const gateway = await sharedGateway(t);
const surfaces = await senders(gateway);

const leafOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** The answer is a refusal that names the option. */
function names(t: Test, { name, surface }: SdkOption, { refusal, shown }: Answer): void {
  t.ok(refusal, `${name} is refused, but the answer was ${shown?.slice(0, 100)}`);
  const { called: leaf = leafOf(name) } = exampleOf(surface, name);
  t.ok(
    refusal?.param?.includes(leaf) || refusal?.message.includes(leaf),
    `${name} is named: ${JSON.stringify(refusal)}`,
  );
}

interface Asked {
  readonly option: SdkOption;
  readonly row: OptionRow;
  readonly send: (value: unknown) => Promise<Answer>;
  readonly usual: Answer;
}

/** Ignored: the answer is the usual one, except that a session may repeat the option. */
async function isIgnored(t: Test, { option, row, send, usual }: Asked): Promise<void> {
  const { good = USUAL } = exampleOf(option.surface, option.name);
  const { refusal, shown } = await send(good);
  t.equal(refusal, undefined, `${option.name} is accepted`);
  if (row.effect === 'ignored' && row.shown) t.not(shown, usual.shown, `${option.name} is repeated`);
  else t.equal(shown, usual.shown, `${option.name} changes nothing`);
}

/** Used or mapped: a wrong value is refused, or a good one changes the answer. */
async function isHeard(t: Test, { option, send, usual }: Asked): Promise<void> {
  const { good, wrong, accepted } = exampleOf(option.surface, option.name);
  if (wrong !== undefined) return names(t, option, await send(wrong));
  const { refusal, shown } = await send(good);
  t.equal(refusal, undefined, `${option.name} is accepted`);
  if (accepted === undefined) t.not(shown, usual.shown, `${option.name} changes the answer`);
}

async function isRefused(t: Test, { option, send }: Asked): Promise<void> {
  const { good = USUAL } = exampleOf(option.surface, option.name);
  names(t, option, await send(good));
}

const CHECKS = { ignored: isIgnored, used: isHeard, mapped: isHeard, refused: isRefused } as const;

const ofSurface = (surface: Surface): readonly SdkOption[] =>
  sdkOptions().filter((option) => option.surface === surface);

for (const [name, { surface, send }] of Object.entries(surfaces)) {
  t.test(`${name}: each option has its effect, has none, or is refused`, async (t) => {
    for (const option of ofSurface(surface)) {
      const row = rowOf(surface, option.name);
      if (!row) throw new Error(`no row for ${surface} ${option.name}`);
      const usual = await send({ place: option.place, sdks: option.sdks });
      const asked = (value: unknown): Promise<Answer> =>
        send({ place: option.place, sdks: option.sdks, name: option.name, value });
      await CHECKS[row.effect](t, { option, row, send: asked, usual });
    }
  });
}

t.test('every surface of the SDKs is asked', async (t) => {
  const asked = new Set(Object.values(surfaces).map(({ surface }) => surface));
  t.strictSame(
    [...new Set(sdkOptions().map(({ surface }) => surface))].filter((name) => !asked.has(name)),
    [],
  );
});

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: { readonly properties: object } }>;
  };
  readonly responses: Record<string, { readonly headers?: object }>;
  readonly security: readonly object[];
}

interface Description {
  readonly components: { readonly securitySchemes: Record<string, object> };
  readonly paths: Record<string, Record<string, Operation>>;
}

const described = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as Description;
const SPEECH = '/audio/speech';
const operation = (path: string, method = 'post'): Operation => {
  const found = described.paths[path]?.[method];
  if (!found) throw new Error(`/openapi.json has no ${method} ${path}`);
  return found;
};

/** The fields of an operation's body in JSON. */
const fieldsOf = (path: string): readonly string[] =>
  Object.keys(operation(path).requestBody?.content['application/json']?.schema.properties ?? {});

t.test(
  '/openapi.json has the options of the table: the aggregator’s own fields on its base alone',
  async (t) => {
    const own = ['input_references', 'temperature', 'top_p', 'repetition_penalty'];
    for (const base of ['/compat/v1', '/compat/openai/v1', '/v1']) {
      const fields = fieldsOf(base + SPEECH);
      for (const name of own) t.notOk(fields.includes(name), `${base} ${name}`);
      t.ok(fields.includes('speed'), base);
      t.notOk(fields.includes('instructions'), 'what is refused is not described');
    }
    for (const name of own) t.ok(fieldsOf(`/compat/api/v1${SPEECH}`).includes(name), name);
    t.ok(fieldsOf('/compat/elevenlabs/v1/text-to-speech/{voice_id}').includes('voice_settings'));
  },
);

t.test(
  '/openapi.json has the headers of native options where text is spoken, and nowhere else',
  async (t) => {
    const headers = (path: string) =>
      (operation(path).parameters ?? []).filter((row) => row.in === 'header').map(({ name }) => name);
    const speaking = [
      `/compat/v1${SPEECH}`,
      '/compat/v1/chat/completions',
      '/compat/elevenlabs/v1/text-to-speech/{voice_id}',
      '/compat/elevenlabs/v1/text-to-speech/{voice_id}/stream/with-timestamps',
    ];
    for (const path of speaking) {
      t.ok(headers(path).includes('X-Svc-Mp3-Bitrate'), path);
      t.ok(headers(path).includes('X-Svc-Prosody'), path);
      t.notOk(headers(path).includes('X-Svc-Opus-Bitrate'), 'it is ignored');
    }
    for (const path of ['/compat/v1/audio/transcriptions', '/v1/tts'])
      t.notOk(
        headers(path).some((name) => name.startsWith('X-Svc-')),
        path,
      );
    t.ok(headers('/v1/tts').includes('model'));
  },
);

t.test('/openapi.json has protocol B’s key header, the generation id, and the bounds of pages', async (t) => {
  const path = '/compat/elevenlabs/v1/text-to-speech/{voice_id}';
  t.strictSame(operation(path).security, [{ 'protocol-b-key': [] }, { bearer: [] }]);
  exactly(t, described.components.securitySchemes['protocol-b-key'], { type: 'apiKey', in: 'header', name: 'xi-api-key' }); // oxfmt-ignore
  t.strictSame(operation(`/compat/v1${SPEECH}`).security, [{ bearer: [] }]);
  for (const { headers } of Object.values(operation(path).responses))
    t.ok(headers && 'X-Generation-Id' in headers);
  const bounds = (operation('/compat/v1/models', 'get').parameters ?? []).map(({ name, schema }) => [
    name,
    schema,
  ]);
  exactly(t, Object.fromEntries(bounds), {
    limit: { minimum: 1, maximum: 999_999_999 },
    offset: { minimum: 0, maximum: 999_999_999 },
  });
});
