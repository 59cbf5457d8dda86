/** One turn in the making, and its row in the record. Times are whole milliseconds of one clock. */
import type { EndOfTurn } from '../../../../actors/agent/turns/detectors.js';
import { wordsOf } from '../../../../actors/agent/turns/interruption.js';
import type { AnswerCut } from '../../../../contracts/ports/chat.js';
import { joined } from '../../../../actors/agent/turns/stretches.js';
import {
  addUsage,
  NO_USAGE,
  type ToldPassage,
  type Turn,
  type TurnCause,
  type TurnTool,
  type Usage,
} from '../../../../contracts/sessions/turns.js';
import { AnswerTimeline, latencyParts } from './latency.js';

/** Facts about the user's words since the last message. */
export interface UserSpeech {
  /** When VAD last noticed that the voice began and ended. */
  voiceAt?: number;
  silentAt?: number;
  /** How long it had been silent when it was noticed. */
  silentMs?: number | undefined;
  active?: boolean;
  firstTranscript?: number | undefined;
  lastTranscript?: number | undefined;
  /** When the words were first known as they are, and what they are, of which stretch. */
  wordsAt?: number | undefined;
  words?: string | undefined;
  decision?: EndOfTurn;
  /** That of the call, where several may be spoken. */
  language?: string;
}

interface Request {
  readonly asked: number;
  firstToken?: number;
  ended?: number;
  cut?: AnswerCut | undefined;
}

type Tool = Pick<TurnTool, 'callId' | 'toolName'> & {
  readonly started: number;
  ended?: number;
  failed: boolean;
};

/** The answer to a turn, or a draft of one: a job of the agent, or an excuse in its place. */
export class TurnAnswer {
  readonly timeline = new AnswerTimeline();
  readonly requests: Request[] = [];
  readonly tools: Tool[] = [];
  passages: readonly ToldPassage[] = [];
  usage: Usage = NO_USAGE;
  audible: number | undefined;
  played: number | undefined;
  heardMs = 0;
  complete = false;
  held = 0;
  resumed = 0;
  /** How long the agent spoke on when it was last held: from the user's voice to its silence. */
  heldAfter: number | undefined;
  isExcuse = false;

  constructor(
    public job: number,
    readonly drafted = false,
  ) {}

  /** Its first audio, or a filler before it, is on its way. */
  begin(at: number): void {
    if (this.audible !== undefined) return;
    this.audible = at;
    this.timeline.enter('transport', at);
  }
}

const NO_ANSWER: Readonly<TurnAnswer> = new TurnAnswer(0);

const reasonOf = ({ detector, probability, completeness, delayMs }: EndOfTurn) => ({
  detector,
  completeness,
  delayMs,
  probability: probability ?? null,
});

/** Silence before VAD reports the end of a voice, for reports that do not say how long it was. */
export const NOTICED_MS = 256;

/** Notes when the words of that stretch were first known as they are; signs and capitals do not count. */
export function noteWords(speech: UserSpeech, span: number, text: string, at: number): void {
  const words = `${span} ${wordsOf(text).join(' ')}`;
  if (text === '' || words === speech.words) return;
  Object.assign(speech, { words, wordsAt: at });
}

/** Words that were all known this long before voice activity ended were followed by something else: a crowd, a fan. */
const LATE_MS = 1000;

/** When the user's voice ended, as far as it is known: when voice activity did, unless the words had ended long before, or it goes on. */
function endOf(
  { active, silentAt, silentMs = NOTICED_MS, wordsAt = Infinity }: UserSpeech,
  at: number,
): number {
  if (active) return Math.min(at, wordsAt);
  const silence = silentAt === undefined ? at : silentAt - silentMs;
  return wordsAt < silence - LATE_MS ? wordsAt : silence;
}

export class TurnRow {
  turnId = 0;
  words = '';
  /** Words said while the agent finished the answer before. */
  earlier = '';
  reopened = 0;
  answer: TurnAnswer | undefined;
  /** The message is final. */
  closed: boolean;
  over = false;
  ended: number | undefined;
  error: string | null = null;
  draftsDiscarded = 0;
  interrupted: Turn['interrupted'] = null;
  usage: Usage = NO_USAGE;
  #from: number;
  #noticed: number;
  #decided: number;
  #speech: UserSpeech = {};

  /** Turns of the user's voice get their times from `transcribed`; all others begin at `at`. */
  constructor(
    readonly number: number,
    readonly cause: TurnCause,
    at: number,
  ) {
    this.#from = this.#noticed = this.#decided = at;
    this.closed = cause !== 'turn';
  }

  /** The user's words are known, and the turn is over, for now. */
  transcribed(words: string, speech: UserSpeech, at: number): void {
    const { firstTranscript } = this.#speech;
    this.words = joined([this.earlier, words]);
    this.#decided = at;
    this.#noticed = speech.active ? at : (speech.silentAt ?? at);
    this.#from = endOf(speech, at);
    this.#speech = { ...speech, firstTranscript: firstTranscript ?? speech.firstTranscript };
  }

  /** Drops the answer, of which nothing was heard: the user spoke on, or it was asked for again. */
  withdraw(): void {
    if (this.answer) this.usage = addUsage(this.usage, this.answer.usage);
    this.answer = undefined;
    this.ended = undefined;
    this.interrupted = null;
  }

  toTurn(epoch: number): Turn {
    const { number, turnId, cause, words, reopened, interrupted, error, draftsDiscarded } = this;
    const { decision, firstTranscript, lastTranscript, language = null } = this.#speech;
    const { answer = NO_ANSWER } = this;
    const { heardMs, complete, held, resumed, drafted, passages } = answer;
    return {
      number,
      turnId,
      cause,
      words,
      language,
      reopened,
      interrupted,
      error,
      draftsDiscarded,
      heardMs,
      complete,
      held,
      resumed,
      drafted,
      passages,
      at: new Date(epoch + this.#from),
      endOfTurn: decision ? reasonOf(decision) : null,
      firstTranscriptMs: this.#after(firstTranscript),
      lastTranscriptMs: this.#after(lastTranscript),
      decidedMs: this.#after(this.#decided),
      requests: answer.requests.map(({ asked, firstToken, ended, cut = null }) => ({
        cut,
        askedMs: asked - this.#from,
        firstTokenMs: this.#after(firstToken),
        endedMs: this.#after(ended),
      })),
      tools: answer.tools.map(({ callId, toolName, started, ended, failed }) => ({
        callId,
        toolName,
        failed,
        startedMs: started - this.#from,
        endedMs: this.#after(ended),
      })),
      firstAudioMs: this.#after(answer.audible),
      playedMs: this.#after(this.#playedAt),
      parts: this.#parts,
      endedMs: this.#after(this.ended),
      usage: addUsage(this.usage, answer.usage),
    };
  }

  #after(at: number | undefined): number | null {
    return at === undefined ? null : at - this.#from;
  }

  /** No audio leaves before the turn is over. */
  get #playedAt(): number | undefined {
    const played = this.answer?.played;
    return played === undefined ? undefined : Math.max(played, this.#decided);
  }

  get #parts(): Turn['parts'] {
    const played = this.#playedAt;
    if (played === undefined || !this.answer) return null;
    const { timeline } = this.answer;
    const delayMs = this.#speech.decision?.delayMs ?? 0;
    const [from, noticed, decided] = [this.#from, this.#noticed, this.#decided];
    return latencyParts({ from, noticed, delayMs, decided, timeline, played });
  }
}
