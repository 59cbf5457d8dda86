/** Targets by name of the figure: for its value, or for its ratio to the baseline of the same run. */
export interface Limit {
  readonly of: 'value' | 'ratio';
  readonly most?: number;
  readonly least?: number;
}

const atMost = (most: number): Limit => ({ of: 'value', most });
const atLeast = (least: number): Limit => ({ of: 'value', least });
const ratioAtMost = (most: number): Limit => ({ of: 'ratio', most });
const ratioAtLeast = (least: number): Limit => ({ of: 'ratio', least });

export const LIMITS: Readonly<Record<string, Limit>> = {
  'speech.failed': atMost(0),
  'speech.native.failed': atMost(0),
  'speech.mp3.failed': atMost(0),
  'speech.cpu': ratioAtMost(1.5),
  'speech.added.p50': atMost(1),
  'speech.added.p99': atMost(5),
  'speech.proxied': ratioAtLeast(4),
  'speech.proxied.mp3.cpu': ratioAtMost(0.22),
  'transcription.failed': atMost(0),
  'transcription.overhead': ratioAtMost(1.1),
  'upload.stall': atMost(25),
  'upload.memory': atMost(130),
  'live.ttfa': ratioAtMost(1.2),
  'live.failed': atMost(0),
  'stream-input.failed': atMost(0),
  'realtime.append': ratioAtMost(1.15),
  'realtime.open': ratioAtMost(3),
  'realtime.idle': atMost(8),
  'realtime.idle.growth': ratioAtMost(1.1),
  'fairness.ttfa': ratioAtMost(2),
  'fairness.failed': atMost(0),
  'engines.low.ttfa': atMost(200),
  'engines.failed': atMost(0),
  'engines.loop': atMost(20),
  'codecs.mp3': ratioAtLeast(0.9),
  'codecs.opus': ratioAtLeast(0.9),
  'conversation.calls_per_core': atLeast(80),
  'conversation.frames.late': atMost(0.5),
  'conversation.unanswered': atMost(0),
  'conversation.speech.answer.p50': atMost(800),
  'conversation.speech.answer.p90': atMost(1000),
  'conversation.speech.answer_eager.p50': atMost(600),
  'conversation.speech.answer_after_closing_interruption.p50': atMost(900),
  'conversation.speech.barge_in.p50': atMost(200),
  // None, one and two of the eight sentences.
  'conversation.speech.cut_offs_of_habitual_pauses.800': atMost(0),
  'conversation.speech.cut_offs_of_habitual_pauses.1200': atMost(12.5),
  'conversation.speech.cut_offs_of_habitual_pauses.1500': atMost(25),
  'conversation.speech.coughs_kept': atLeast(95),
  'conversation.speech.backchannels_kept': atLeast(95),
  'conversation.speech.others_15db_kept': atLeast(95),
  'conversation.speech.unanswered': atMost(0),
  // "Callers like people": 15 of 20, 34 of 40, 3 and 5 of 30, 4 of 30, 5 of 6 and 5 of 7.
  'callers.digits.right': atLeast(75),
  'callers.digits.without_trace': atMost(0),
  'callers.words.right': atLeast(85),
  'callers.words.p50': atMost(907),
  'callers.first_pause.1000.cut': atMost(10),
  'callers.first_pause.1200.cut': atMost(16.7),
  'callers.echo.answers_itself': atMost(0),
  'callers.crowd.10db.p50': atMost(2000),
  'callers.crowd.5db.unanswered': atMost(13.4),
  'callers.beside.12db.kept': atLeast(83),
  'callers.beside.10db.kept': atLeast(71),
  'callers.question.p50': atMost(630),
  'callers.statement.p50': atMost(907),
  'callers.interruption.p50': atMost(750),
  'joins.failed': atMost(0),
  'phone.answer': atMost(700),
  'phone.frames.late': atMost(0.5),
  'phone.failed': atMost(0),
  'phone.speech.answer': atMost(700),
  'phone.speech.failed': atMost(0),
  'sessions.create': ratioAtLeast(0.7),
  'sessions.create.failed': atMost(0),
  'sessions.list': atMost(5),
  'sessions.list.total': atMost(20),
  'workers.scaling': atLeast(1.8),
  'startup.ready': atMost(5000),
  'memory.idle': atMost(400),
};
