/**
 * The unmodified openai package for Python with an agent as its realtime model: installed by pip into an empty environment, it holds a
 * spoken conversation with an interruption and a function of its own. It fetches packages, so it is a long form.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from '../../dist/test/fixtures/tap.js';
import { said, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { messagesOf, Talks } from '../../dist/test/fixtures/conversation/conversation.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { externalTool } from '../../dist/test/fixtures/external.js';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';
import { EMBEDDED, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { pipSkipReason } from '../../dist/test/fixtures/python.js';

t.setTimeout(1_800_000);

const run = promisify(execFile);
const LONG = Array.from({ length: 60 }, () => 'We bake bread and cakes every morning').join(', ');

/** Says each line once what it waits for was heard; prints what went wrong, and the id of the session. */
const PROGRAM = `
import asyncio, base64, json, sys
from openai import AsyncOpenAI

told = json.load(sys.stdin)
FRAME = 24_000 // 50 * 2
PRICE = {"type": "function", "name": "price", "description": "The price of a thing",
         "parameters": {"type": "object", "properties": {"of": {"type": "string"}}}}

async def microphone(connection, lines):
    speech = b""
    while True:
        if not speech and not lines.empty():
            speech = lines.get_nowait()
        frame, speech = speech[:FRAME].ljust(FRAME, b"\\0"), speech[FRAME:]
        await connection.input_audio_buffer.append(audio=base64.b64encode(frame).decode())
        await asyncio.sleep(0.02)

async def main():
    client = AsyncOpenAI(api_key=told["key"], base_url=told["base"] + "/v1")
    heard, errors, cut = [], [], 0
    waits = list(told["lines"])
    lines = asyncio.Queue()
    async with client.realtime.connect(model=told["agent"]) as connection:
        await connection.session.update(session={"type": "realtime", "tools": [PRICE]})
        sending = asyncio.create_task(microphone(connection, lines))
        words = ""
        async for event in connection:
            type(event).model_validate_json(event.model_dump_json(exclude_unset=True))
            if event.type == "session.created":
                session = event.session.id
            elif event.type == "error":
                errors.append(event.error.message)
            elif event.type == "response.function_call_arguments.done":
                await connection.conversation.item.create(
                    item={"type": "function_call_output", "call_id": event.call_id, "output": "two euros"})
                await connection.response.create()
            elif event.type == "response.output_audio_transcript.delta":
                words += event.delta
            elif event.type == "response.done":
                cut += event.response.status == "cancelled"
                if event.response.status == "completed" and words:
                    heard.append(words)
                words = ""
            if not waits and not lines.qsize() and heard and told["last"] in heard[-1]:
                break
            if waits and (waits[0]["after"] in words if waits[0]["during"] else heard and waits[0]["after"] in heard[-1]):
                lines.put_nowait(base64.b64decode(waits.pop(0)["speech"]))
        sending.cancel()
    print(json.dumps({"session": session, "heard": heard, "errors": errors, "cut": cut}))

asyncio.run(main())
`;

t.test('openai for Python: turns, an interruption, a function', { skip: pipSkipReason() }, async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const talks = await Talks.start(t, EMBEDDED);
  talks.model.answer((messages) => {
    const result = toolSaid(messages);
    if (result !== undefined) return `It costs ${result}.`;
    const words = said(messages).toLowerCase();
    if (words.includes('price')) return { calls: { price: { of: 'bread' } } };
    // What interrupts an answer that has hardly begun belongs to its question.
    if (words.includes('stop')) return 'I have stopped.';
    return words.includes('bake') ? LONG : 'Good morning.';
  });
  const agent = await talks.agent({
    prompt: { first_message_mode: 'fixed', first_message: 'Hello, this is the bakery.' },
  });
  const LINES = [
    { after: 'the bakery.', text: 'Good morning to you.' },
    { after: 'Good morning.', text: 'What is the price of the bread?' },
    { after: 'two euros.', text: 'What do you bake in the morning?' },
    { after: 'cakes every', text: 'Please stop now.', during: true },
  ];
  const lines = [];
  for (const { text, after, during = false } of LINES) {
    const { buffer, byteOffset, byteLength } = await talks.speech(text, 24_000);
    lines.push({ after, during, speech: Buffer.from(buffer, byteOffset, byteLength).toString('base64') });
  }
  const environment = join(folder, 'environment');
  await run(externalTool('python3'), ['-m', 'venv', environment]);
  const python = join(environment, 'bin', 'python');
  await run(python, ['-m', 'pip', 'install', '--quiet', 'openai[realtime]'], { maxBuffer: 1e8 });
  const file = join(folder, 'talk.py');
  writeFileSync(file, PROGRAM);
  const child = spawn(python, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const { base } = talks.gateway;
  child.stdin.end(JSON.stringify({ base, key: TEST_KEY, agent, lines, last: 'I have stopped.' }));
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  const [code] = await once(child, 'close');
  t.equal(code, 0);
  const { session, heard, errors, cut } = JSON.parse(printed);
  t.strictSame(errors, []);
  t.equal(cut, 1);
  const SAID = ['Hello, this is the bakery.', 'Good morning.', 'It costs two euros.', 'I have stopped.'];
  t.same(heard, SAID);
  const record = await talks.ended({ session_id: session });
  exactly(t, record, { ended_reason: 'hangup', status: 'completed' });
  const told = messagesOf(record).filter((line) => line.startsWith('assistant: '));
  t.equal(told.length, 5, told.join('\n'));
});
