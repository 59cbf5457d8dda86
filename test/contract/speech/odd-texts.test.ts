/**
 * The same texts through every surface and kind of engine: each is spoken or refused with its reason, by all surfaces alike, and what
 * is aligned joins to the text that was sent (docs/contract/spoken-text.md).
 */
import t from '../../fixtures/tap.js';
import { type GatewayAddress, sharedGateway, startGateway } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import { ODD_TEXTS } from '../../fixtures/speech/odd-texts.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';
import { type Outcome, sentText, type Spoken, SURFACES } from '../../fixtures/speech/text-surfaces.js';

interface Engine {
  readonly gateway: GatewayAddress;
  /** Title of its voice; absent: the default voice. */
  readonly voice?: string;
  /** It tells no times of words: alignments are null, or hold the text alone. */
  readonly untimed?: true;
}

const remote = await remoteService(t);
remote.answers((response) => void response.end(Buffer.alloc(16_000, 1)));
const doubled = await startGateway({
  TTS_ENGINES: 'native-compatible',
  REMOTE_NATIVE_URL: remote.url,
  REMOTE_NATIVE_RATE: '16000',
});
t.teardown(() => doubled.stop());
const [tones, speech] = await Promise.all([sharedGateway(t), sharedGateway(t, 'speech')]);

const ENGINES: Readonly<Record<string, Engine>> = {
  tone: { gateway: tones },
  flite: { gateway: speech, voice: 'Kevin (US English, robotic)' },
  eSpeak: { gateway: speech, voice: 'eSpeak (US English)' },
  'the default voice': { gateway: speech },
  'a remote service': { gateway: doubled, untimed: true },
};

async function voiceOf({ gateway, voice }: Engine): Promise<string> {
  if (voice === undefined) return 'default';
  const response = await fetch(`${gateway.base}/model?page_size=100`, { headers: gateway.authorization });
  const { items } = (await response.json()) as { items: { _id: string; title: string }[] };
  return items.find(({ title }) => title === voice)!._id;
}

const REASON = /language|spoken|script|hear|speak|empty/i;

/** What is wrong with an outcome; `wanted`: that of the same text at the native API, if it was asked. */
function problemOf(
  { text, untimed }: Spoken & Engine,
  outcome: Outcome,
  wanted: Outcome | undefined,
): string | undefined {
  const { refused, joined, bytes } = outcome;
  if (refused !== undefined && !REASON.test(refused)) return `refused: ${refused}`;
  if (wanted && (refused === undefined) !== (wanted.refused === undefined))
    return `${refused ?? 'spoken'}, and natively ${wanted.refused ?? 'spoken'}`;
  if (refused !== undefined || bytes === 0 || (untimed && joined === '')) return undefined;
  if (joined !== undefined && sentText(joined) !== sentText(text))
    return `joins to ${JSON.stringify(joined)}`;
  return undefined;
}

const names = Object.keys(SURFACES);

/** In the short form each text takes one surface of each engine, another one each time. */
const surfacesFor = (text: number, engine: number): readonly string[] =>
  shortOrLong([names[(text * 5 + engine * 3) % names.length]!], names);

for (const [at, [name, engine]] of Object.entries(ENGINES).entries()) {
  t.test(`${name}: spoken or refused by all alike, and joined to the text`, async (t) => {
    const voice = await voiceOf(engine);
    const problems: string[] = [];
    const audible = new Set<string>();
    for (const [index, text] of ODD_TEXTS.entries()) {
      const spoken = { ...engine, voice, text };
      const wanted = await shortOrLong(undefined, SURFACES['native speech'])?.(spoken);
      for (const surface of surfacesFor(index, at)) {
        const outcome = await SURFACES[surface]!(spoken);
        if (outcome.bytes > 0) audible.add(text);
        const problem = problemOf(spoken, outcome, wanted);
        if (problem) problems.push(`${surface}, ${JSON.stringify(text)}: ${problem}`);
      }
    }
    t.strictSame(problems, []);
    t.ok(audible.size > ODD_TEXTS.length / 2, `${audible.size} texts are heard`);
  });
}
