/**
 * The unmodified `Conversation` of elevenlabs for Python with an agent: a signed address, a spoken conversation of five turns, with an
 * interruption, a tool of the client and a hang-up, and what it was told against the record. It fetches packages, so it is a long form;
 * the frames are tried in test/contract/agent-elevenlabs.
 */
import { execFile, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { said, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { messagesOf, Talks } from '../../dist/test/fixtures/conversation/conversation.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { externalTool, skipReason } from '../../dist/test/fixtures/external.js';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';
import { EMBEDDED, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';
import { until } from '../../dist/test/fixtures/until.js';
import t from '../../dist/test/fixtures/tap.js';

t.setTimeout(1_800_000);

const run = promisify(execFile);
const PACKAGE = 'elevenlabs==2.78.0';
const RATE = 16_000;
/** Longer than the sound that is sent ahead of what is heard. */
const QUIET_MS = 600;

const skip =
  shortOrLong('npm run test:long installs the client, which fetches packages', false) ||
  skipReason('python3');

const LONG = Array.from({ length: 60 }, () => 'We bake bread and cakes every morning').join(', ');

/** Reads lines of JSON: speech to say, or the end; prints what it is told, a line of JSON each. */
const PROGRAM = `
import base64, json, queue, sys, threading, time
from elevenlabs.client import ElevenLabs
from elevenlabs.conversational_ai.conversation import AudioInterface, ClientTools, Conversation

told = json.loads(sys.stdin.readline())
lock = threading.Lock()

def tell(what, value):
    with lock:
        print(json.dumps([what, value]), flush=True)

class Line(AudioInterface):
    FRAME = 3200

    def start(self, input_callback):
        self.speech, self.running = queue.Queue(), True
        self.heard = 0
        threading.Thread(target=self.listen, args=(input_callback,), daemon=True).start()

    def listen(self, input_callback):
        due, waiting = time.monotonic(), b""
        while self.running:
            while not self.speech.empty():
                waiting += self.speech.get()
            frame, waiting = waiting[: self.FRAME], waiting[self.FRAME :]
            input_callback(frame.ljust(self.FRAME, b"\\0"))
            due += 0.1
            time.sleep(max(0, due - time.monotonic()))

    def stop(self):
        self.running = False

    def output(self, audio):
        self.heard += len(audio)
        tell("heard", self.heard)

    def interrupt(self):
        tell("interrupted", True)

line = Line()
tools = ClientTools()
tools.register("price", lambda call: tell("called", call["of"]) or "two euros")
conversation = Conversation(
    ElevenLabs(api_key=told["key"], base_url=told["base"]),
    told["agent"],
    user_id="user-7",
    requires_auth=True,
    audio_interface=line,
    client_tools=tools,
    callback_agent_response=lambda text: tell("agent", text),
    callback_agent_response_correction=lambda text, heard: tell("corrected", [text, heard]),
    callback_user_transcript=lambda text: tell("user", text),
    callback_latency_measurement=lambda ms: tell("latency", ms),
    callback_disconnect=lambda details: tell("gone", details.reason),
)
conversation.start_session()
for command in sys.stdin:
    speech = json.loads(command)["say"]
    if speech is None:
        break
    line.speech.put(base64.b64decode(speech))
conversation.end_session()
tell("id", conversation.wait_for_session_end())
`;

async function installed(folder) {
  const environment = join(folder, 'environment');
  await run(externalTool('python3'), ['-m', 'venv', environment]);
  const python = join(environment, 'bin', 'python');
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE], {
    maxBuffer: 1e8,
  });
  return python;
}

/** A conversation of the Python client, and what it was told. */
function conversing(t, python, file, told) {
  const child = spawn(python, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const lines = [];
  let soundAt = performance.now();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [name, value] = JSON.parse(line);
    lines.push([name, value]);
    if (name === 'heard') soundAt = performance.now();
  });
  const send = (value) => child.stdin.write(`${JSON.stringify(value)}\n`);
  send(told);
  const of = (what) => lines.filter(([name]) => name === what).map(([, value]) => value);
  return {
    of,
    quietMs: () => performance.now() - soundAt,
    say: (speech) => send({ say: Buffer.from(speech.buffer).toString('base64') }),
    end: () => send({ say: null }),
  };
}

/** The answers as the client knows them in the end. */
function answersOf({ of }) {
  const texts = of('agent');
  for (const [text, heard] of of('corrected')) texts[texts.lastIndexOf(text)] = heard;
  return texts.filter((text) => text !== '');
}

t.test('elevenlabs for Python: turns, an interruption, a tool and a hang-up', { skip }, async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const talks = await Talks.start(t, { ...EMBEDDED, LOG_LEVEL: 'info' });
  talks.model.answer((messages) => {
    const result = toolSaid(messages);
    if (result !== undefined) return `It costs ${result}.`;
    const words = said(messages).toLowerCase();
    if (words.includes('price') || words.includes('cost')) return { calls: { price: { of: 'bread' } } };
    if (words.includes('bake')) return LONG;
    return words.includes('stop') ? 'I have stopped.' : 'Good morning.';
  });
  const { body: tool } = await talks.call('tools', {
    body: {
      ...{ name: 'price', tool_type: 'client', description: 'The price of a thing', expects_response: true },
      arguments: [{ name: 'of', description: 'What' }],
    },
  });
  const agent = await talks.agent({
    prompt: { first_message_mode: 'fixed', first_message: 'Hello, this is the bakery.' },
    tools: { tool_ids: [tool.tool_id] },
  });
  const python = await installed(folder);
  const file = join(folder, 'talk.py');
  writeFileSync(file, PROGRAM);
  const told = { key: TEST_KEY, base: `${talks.gateway.base}/compat/elevenlabs`, agent };
  const client = conversing(t, python, file, told);
  const { of } = client;
  const say = async (text) => client.say(await talks.speech(text, RATE));
  /** Until it is said, and the agent rests: no sound comes while nobody speaks. */
  const heard = async (text) => {
    await until(`it says ${text}`, () => answersOf(client).includes(text), 120_000);
    await until('it is heard to its end', () => client.quietMs() > QUIET_MS);
  };
  await heard('Hello, this is the bakery.');
  await say('Good morning to you.');
  await heard('Good morning.');
  await say('What is the price of the bread?');
  await heard('It costs two euros.');
  t.strictSame(of('called'), ['bread']);
  await say('What do you bake in the morning?');
  await until('it tells at length', () => of('agent').includes(LONG));
  const since = of('heard').at(-1);
  await until('it is heard', () => of('heard').at(-1) - since > RATE * 2 * 6);
  await say('Please stop now.');
  await until('it is interrupted', () => of('interrupted').length > 0);
  await heard('I have stopped.');
  await say('Good morning again.');
  await until('it answers', () => answersOf(client).filter((text) => text === 'Good morning.').length === 2);
  await until('pings were answered', () => of('latency').length > 0);
  client.end();
  const id = await until('it is over', () => of('id')[0]);
  t.strictSame(of('gone'), ['user']);
  const record = await talks.ended({ session_id: id });
  exactly(t, record, { ended_reason: 'hangup', status: 'completed', end_user_id: 'user-7' });
  const spoken = messagesOf(record);
  const kept = (role) =>
    spoken.filter((line) => line.startsWith(`${role}: `)).map((line) => line.slice(role.length + 2));
  t.ok(kept('user').length >= 5, JSON.stringify(spoken));
  t.strictSame(of('user').slice(0, kept('user').length), kept('user'));
  const cut = answersOf(client).find((text) => text.startsWith('We bake')) ?? '';
  t.ok(LONG.startsWith(cut) && cut.length < LONG.length, cut);
  t.strictSame(kept('assistant').slice(0, 5), answersOf(client).slice(0, 5));
});
