/**
 * A whole call with a third-party simulator of Twilio Media Streams: streamdouble (from PyPI, Apache-2.0) speaks, presses
 * keys, interrupts and hangs up, and counts violations of Twilio's documents. It asks no webhook, so our double of Twilio
 * does. Runs if a Python (STREAMDOUBLE_PYTHON, or `python3`) has `streamdouble`.
 */
import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from '../../fixtures/tap.js';
import { messagesOf } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { ASKING, IncomingCalls, newCall } from '../../fixtures/phone/incoming-calls.js';
import { wavOf } from '../../fixtures/livekit/sip.js';

t.setTimeout(300_000);

const PYTHON = process.env['STREAMDOUBLE_PYTHON'] ?? 'python3';
const RATE = 8000;

/** Program that places the call in its argument, which is JSON, and prints the outcome. */
const PROGRAM = `
import asyncio, json, sys
from streamdouble.protocol import StreamIdentity
from streamdouble.scenario import parse
from streamdouble.session import Session, SessionConfig

call = json.loads(sys.argv[1])
config = SessionConfig(custom_parameters=call["parameters"], response_timeout_s=60, max_drain_s=60)
session = Session(call["url"], scenario=parse(call), config=config, identity=StreamIdentity(call_sid=call["callId"]))
told = asyncio.run(session.run())
print("ANSWER" + json.dumps({
    "violations": [str(each) for each in told.violations],
    "unknown": told.unknown_events, "warnings": told.warnings, "failed": told.failed_expectations,
    "clears": told.clears_received, "marks": len(told.marks_received), "echoed": len(told.marks_echoed),
    "seconds": len(told.audio_received) / 8000, "timedOut": told.timed_out, "closedEarly": told.closed_early,
}))
`;
import { temporaryFolder } from '../../fixtures/folders.js';
import { standIn } from '../../fixtures/stand-in.js';

const has = spawnSync(PYTHON, [
  '-c',
  'import importlib.util as u; exit(u.find_spec("streamdouble") is None)',
]);
const skip = has.status === 0 ? false : `${PYTHON} has no streamdouble`;

/** 25 seconds of tones. */
const LONG = Array.from({ length: 200 }, (_, index) => String(index + 100)).join(' ');

t.test('a third-party simulator holds a whole call', { skip, timeout: 300_000 }, async (t) => {
  const calls = await IncomingCalls.start(t);
  const { talks } = calls;
  talks.model.answer(() => LONG);
  const agent = await talks.agent({
    prompt: { first_message_mode: 'fixed', first_message: 'hello' },
    conversation: { interruption_sensitivity: 'high' },
  });
  const [twilio] = ASKING;
  const call = newCall(await calls.numberOf(twilio!, agent));
  const { document } = await calls.ring(twilio!, call);
  const stream = twilio!.dialect.streamOf(document);
  const folder = temporaryFolder();
  const clip = async (text: string): Promise<string> => {
    const path = join(folder, `${text.replaceAll(' ', '-')}.wav`);
    await writeFile(path, wavOf(await talks.speech(text, RATE)));
    return path;
  };
  const steps = [
    { wait_for: { event: 'quiet', timeout: 60 } },
    { say: await clip('what is new') },
    { wait: 3 },
    { expect: 'audio' },
    { say: await clip('please be silent now') },
    { wait_for: { event: 'clear', timeout: 60 } },
    { expect: 'clear' },
    { wait: 2 },
    { dtmf: '42#' },
    { wait: 2 },
    { expect: 'no_violations' },
  ];
  const parameters = { token: stream?.token };
  const asked = JSON.stringify({
    name: 'a whole call',
    steps,
    url: stream?.url,
    callId: call.callId,
    parameters,
  });
  const { stdout } = await promisify(execFile)(PYTHON, ['-c', PROGRAM, asked]);
  const told = JSON.parse(stdout.slice(stdout.indexOf('ANSWER') + 'ANSWER'.length)) as Record<
    string,
    unknown
  >;
  exactly(t, told, {
    violations: [],
    unknown: [],
    warnings: [],
    failed: [],
    timedOut: false,
    closedEarly: false,
  });
  t.ok(Number(told['clears']) >= 1, 'it was told to drop what it had not played');
  t.ok(Number(told['marks']) >= 1 && told['echoed'] !== 0, 'its marks came back');
  const session_id = await calls.sessionOf(agent);
  const ended = await talks.ended({ session_id } as never);
  exactly(t, ended, { status: 'completed', ended_reason: 'hangup' });
  const messages = messagesOf(standIn(ended));
  t.equal(messages[0], 'assistant: hello');
  for (const said of ['user: what is new', 'user: please be silent now', 'user: [keypad: 42]'])
    t.ok(messages.includes(said), said);
});
