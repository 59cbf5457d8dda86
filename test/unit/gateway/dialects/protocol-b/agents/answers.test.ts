/** What a conversation's client is told of the agent's answers: texts with their first sound, and what was heard of each. */
import { Answers } from '../../../../../../gateway/dialects/protocol-b/agents/answers.js';
import t from '../../../../../fixtures/tap.js';

interface Frame {
  readonly type: string;
  readonly agent_response_event?: { readonly agent_response: string };
  readonly agent_response_correction_event?: Readonly<Record<string, string>>;
  readonly interruption_event?: { readonly event_id: number };
  readonly audio_event?: { readonly event_id: number };
}

const shortly = (frame: Frame): string => {
  const { agent_response_event: told, agent_response_correction_event: cut } = frame;
  if (told) return told.agent_response;
  if (cut) return `${cut['original_agent_response']} -> ${cut['corrected_agent_response']}`;
  return `${frame.type} ${frame.interruption_event?.event_id ?? frame.audio_event?.event_id}`;
};

function answering(isMute = false) {
  const frames: string[] = [];
  let last = 0;
  const answers = new Answers(
    (frame) => void frames.push(shortly(JSON.parse(frame) as Frame)),
    () => (last += 1),
    () => isMute,
  );
  return { answers, frames };
}

const SOUND = new Uint8Array(640);

t.test('a text is told with its first sound; silence belongs to the answer before it', async (t) => {
  const { answers, frames } = answering();
  answers.written(1, 'Good morning. ');
  t.strictSame(frames, []);
  answers.audio(SOUND, 1);
  answers.words('Good morning.');
  answers.audio(SOUND, undefined);
  answers.heard(1);
  answers.audio(SOUND, undefined);
  answers.audio(SOUND, 1);
  t.strictSame(frames, ['Good morning.', 'audio 1', 'audio 1']);
});

t.test('a draft that is never heard is not told', async (t) => {
  const { answers, frames } = answering();
  answers.written(1, 'A draft.');
  answers.written(2, 'The answer.');
  answers.audio(SOUND, 2);
  answers.words('The answer.');
  answers.end();
  answers.written(1, 'Too late.');
  answers.audio(SOUND, 1);
  t.strictSame(frames, ['The answer.', 'audio 1']);
});

t.test('an answer that is cut off: what was heard of each of its texts', async (t) => {
  const { answers, frames } = answering();
  answers.written(1, 'One  moment. ');
  answers.audio(SOUND, 1);
  answers.written(1, 'It is two euros.');
  answers.words('One moment. ');
  answers.words('It is ');
  answers.cleared();
  answers.cleared();
  answers.audio(SOUND, 1);
  answers.end();
  t.strictSame(frames, [
    ...['One  moment.', 'audio 1', 'It is two euros.', 'interruption 1'],
    'It is two euros. -> It is',
  ]);
});

t.test('a filler that is told behind its answer, and heard before it, corrects nothing', async (t) => {
  const { answers, frames } = answering();
  answers.written(1, 'It is ready.');
  answers.written(1, 'One moment.');
  answers.audio(SOUND, 1);
  answers.words('One moment. ');
  answers.words('It is ready.');
  answers.heard(1);
  t.strictSame(frames, ['It is ready.', 'One moment.', 'audio 1']);
});

t.test('an answer that is cut off before its text is whole is told as it was heard', async (t) => {
  const { answers, frames } = answering();
  answers.audio(SOUND, 1);
  answers.words('We bake');
  answers.cleared();
  answers.end();
  t.strictSame(frames, ['audio 1', 'interruption 1', 'We bake']);
});

t.test('the next answer ends the one before it; a client without a player gets no audio', async (t) => {
  const { answers, frames } = answering(true);
  answers.written(1, 'One.');
  answers.audio(SOUND, 1);
  answers.written(2, 'Two.');
  answers.audio(SOUND, 2);
  t.strictSame(frames, ['One.', 'One. -> ', 'Two.']);
});
