/** Delays, guards and actions of an agent's machine (agent.ts), shared by its regions. */
import { and, assign, emit, enqueueActions, not, or, raise, setup, stateIn } from 'xstate';
import {
  asksAgain,
  belongToTurn,
  type Context,
  excuseFor,
  isAwaited,
  isLastFailure,
  mayFill,
  endOfTurn,
  hasWords,
  holds,
  interruptsForSure,
  isAnsweredLater,
  isDraftable,
  foreseen,
  isDraftableLate,
  isForeseen,
  isAgreement,
  isSilenceOver,
  isWordlessSoFar,
  marksUnclear,
  newText,
  silenceBefore,
  turnCompleteness,
  turnText,
  verdictOn,
} from './context.js';
import { delays } from './delays.js';
import { mayBeginOverUser } from './effects.js';
import type { AgentEffect, AgentEvent, Cause, EndReason, Excuse, Sentence } from './events.js';
import type { AgentSettings } from './settings.js';
import { afterSilence, afterTurn, afterWords, pauseOf } from './pauses.js';
import { isLastTime, TIMES } from './times.js';
import { brokenOffBy } from './turns/broken-off.js';
import { fadeOf, NOTICED_MS, type TurnCompleteness } from './turns/endpointing.js';
import { overlapOf, type OverlapVerdict } from './turns/interruption.js';
import {
  begun,
  bringsWords,
  hasLost,
  heard,
  isOwed,
  isWhole,
  isWordless,
  joinedBy,
  owedOf,
  owedVoices,
  overlapping,
  partialText,
  silent,
} from './turns/stretches.js';

const isFinished = (event: AgentEvent): boolean =>
  event.type === 'turnOver' || (event.type === 'overlap' && event.finished);

const isOwedTo = ({ stretches }: Context, event: AgentEvent): boolean =>
  event.type === 'transcript' && isOwed(stretches, event.span);

/** Shows the new words, final. */
const settledWords = (context: Context) =>
  ({ type: 'words', text: newText(context), final: true }) as const satisfies AgentEffect;

const messageApart = (context: Context, backchannel: boolean) =>
  ({
    type: 'message',
    text: newText(context),
    later: true,
    ...(backchannel && { backchannel }),
  }) as const satisfies AgentEffect;

/** The context once the new words have become a message. */
const withoutWords = ({ stretches }: Context) => ({ stretches: owedOf(stretches), shown: false });

/** The agent is silent, or says its last words, whom somebody may answer already. */
const LISTENS = or([not(stateIn('#speaking')), stateIn('#ending')]);

export const parts = setup({
  types: {} as { context: Context; input: AgentSettings; events: AgentEvent; emitted: AgentEffect },
  delays,
  guards: {
    isCurrent: ({ context, event }) => 'job' in event && event.job === context.job,
    isActive: ({ event }) => event.type === 'voice' && event.active,
    isFinished: ({ event }) => isFinished(event),
    opens: ({ context }, mode: AgentSettings['opening']['mode']) => context.settings.opening.mode === mode,

    isOwed: ({ context, event }) => isOwedTo(context, event),
    isOwedFinal: ({ context, event }) =>
      event.type === 'transcript' && event.final && isOwedTo(context, event),
    /** The transcript has new words. */
    bringsWords: ({ context, event }) => event.type === 'transcript' && bringsWords(context.stretches, event),
    /** The recogniser keeps finding no word in a long sound. */
    isWordless: ({ context, event }) => event.type === 'transcript' && isWordless(context.stretches, event),
    hasWords: ({ context }) => hasWords(context),
    /** Every stretch of voice is transcribed. */
    isWhole: ({ context }) => isWhole(context.stretches),
    isOwing: ({ context }) => !isWhole(context.stretches),
    /** Every stretch of voice is transcribed, and the turn is one of these. */
    isTurn: ({ context }, turns: readonly TurnCompleteness[]) =>
      isWhole(context.stretches) && turns.includes(turnCompleteness(context)),

    /** No detector listens to the sound of the user's voice. */
    isByWords: ({ context }) => context.settings.detector === 'tables',
    /** The detector's answer for the last stretch, which may be that it has none. */
    isOfSpan: ({ context, event }) => event.type === 'sounded' && event.span === context.span,

    says: ({ context, event }, verdict: OverlapVerdict) => verdictOn(context, isFinished(event)) === verdict,
    interruptsForSure: ({ context }) => interruptsForSure(context),
    /** The new words were agreement while the agent spoke. */
    isAgreement: ({ context }) => isAgreement(context),
    isDraftable: ({ context, event }) => isFinished(event) && isDraftable(context),
    /** The words are surely the whole turn if the voice ends now. */
    isForeseen: ({ context, event }) => event.type === 'foreseen' && isForeseen(context, event),
    /** The voice has not ended as it was foreseen. */
    isUnforeseen: ({ event }) => event.type === 'foreseen' && event.text === '',
    /** The draft answers the words of the turn as they are known now. */
    isDraftOfTurn: ({ context }) => context.drafted === turnText(context),
    /** The silence is long enough for a draft of an answer to words that leave it open whether more follows. */
    isDraftableLate: and([
      or([stateIn('#likely'), stateIn('#open'), stateIn('#unfinished')]),
      ({ context, event }) =>
        (event.type === 'lasting' || isFinished(event)) &&
        isWhole(context.stretches) &&
        isDraftableLate(context),
    ]),
    isAnsweredLater: ({ context }) => isAnsweredLater(context),
    belongs: ({ context, event }) => belongToTurn(context, isFinished(event)),

    isSpeaking: stateIn('#speaking'),
    isHandingOver: stateIn('#handingOver'),
    isEnding: stateIn('#ending'),
    isHangingUp: stateIn('#hangingUp'),
    isApologising: stateIn('#apologising'),
    isThinking: stateIn('#thinking'),
    isFlowing: stateIn('#flowing'),
    hasWaited: stateIn('#waited'),
    isOld: stateIn('#old'),
    /** The job's answer may be filled, and somebody waits for it. */
    isAwaited: ({ context }) => mayFill(context) && isAwaited(context),
    isLastFailure: ({ context }) => isLastFailure(context),
    isSpeechAtFault: ({ context }) => context.failedPart === 'speech',
    /** Nobody has asked, or it is an excuse itself: the job's failure needs no excuse. */
    isUnasked: ({ context }) => excuseFor(context) === undefined,
    /** The recogniser has failed, and nothing of the turn is known. */
    isLost: ({ context }) => hasLost(context.stretches),
    /** There was a voice without words, of which the agent asks. */
    asksAgain: ({ context }) => asksAgain(context),
    isLostFinal: ({ context, event }) =>
      event.type === 'transcript' && event.lost === true && isOwedTo(context, event),
    isAsked: stateIn('#asked'),
    isVoiced: stateIn('#voiced'),
    isEndpointing: stateIn('#endpointing'),
    isWeighed: stateIn('#weighed'),
    isUntold: stateIn('#untold'),
    isWarningDue: stateIn('#warningDue'),
    isLeaving: stateIn('#leaving'),
    /** What the tools do that wait may begin whatever the user does. */
    isHarmless: ({ context }) => mayBeginOverUser(context.wanted),
    isUserSilent: stateIn({ talking: { user: 'quiet' } }),
    /** Nobody waits for the user's words: effects may begin. */
    isFloorFree: or([
      stateIn({ talking: { user: 'quiet' } }),
      stateIn({ talking: { user: { speaking: 'noise' } } }),
      and([stateIn('#wordless'), 'isWordlessSoFar', or([stateIn('#voiced'), 'isWhole'])]),
    ]),
    isWordlessSoFar: ({ context }) => isWordlessSoFar(context),
    /** The user is connected, and silent or making noise. */
    isUserQuiet: or([
      stateIn({ talking: { user: 'quiet', link: 'up' } }),
      stateIn({ talking: { user: { speaking: 'noise' }, link: 'up' } }),
    ]),
    /** The connected user has been silent for long, and what they said is not known yet. */
    isUnheard: and([
      stateIn('#waited'),
      stateIn('#endpointing'),
      'isOwing',
      stateIn({ talking: { link: 'up' } }),
    ]),
    isIdle: not(or([stateIn('#working'), stateIn('#drafting')])),
    /** No filler was said without an answer a while ago. */
    isUnbridged: stateIn('#unbridged'),
    mayBridge: ({ context }) => context.settings.fills,
    /** The call is long enough for a warning. */
    isLong: ({ context }) => context.settings.maxDurationMs >= 2 * TIMES.warnMs,
    fills: ({ context }) => mayFill(context),
    reengages: ({ context }) => context.settings.reengage && !isSilenceOver(context, TIMES.replyMs),
    /** Both sides have been silent for as long as ends the call. */
    isSilenceOver: and(['isIdle', 'isUserQuiet', ({ context }) => isSilenceOver(context)]),
    saysGoodbye: ({ context }) => context.settings.saysGoodbye,
    isGoodbye: ({ context }) => context.cause === 'goodbye',
    givesUp: ({ context: { settings, reengaged } }) =>
      settings.reengage && settings.hangsUp && isLastTime(reengaged),
  },
  actions: {
    beginSpan: enqueueActions(({ context, event, enqueue, check }) => {
      const span = context.span + 1;
      // `check` takes guards without parameters only, of which the type of `stateIn` says nothing.
      const listens = check(LISTENS as never);
      const from = event.type === 'voice' && listens ? event.at : undefined;
      const pausedMs = listens ? undefined : pauseOf(context, event);
      const stretches = begun(context.stretches, span, from, pausedMs);
      enqueue.assign({ span, stretches, probability: undefined, released: false });
      const joins = from === undefined ? undefined : joinedBy(context.stretches, span);
      enqueue.emit({ type: 'beginSpan', span, ...(joins !== undefined && { joins }) });
    }),
    transcribe: emit(({ context }) => ({ type: 'transcribe' as const, span: context.span })),
    /** All of the stretch of voice that ends was said while the agent spoke. */
    noteOverlap: assign(({ context: { stretches, span } }) => ({ stretches: overlapping(stretches, span) })),
    noteWords: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'transcript') return;
      const stretches = heard(context.stretches, event);
      const text = partialText(stretches);
      const shown = overlapOf(event.text) !== 'noise';
      enqueue.assign({ stretches, shown: context.shown || shown, ...afterWords(context, event) });
      if (shown) enqueue.emit({ type: 'words', text, final: false });
    }),
    /** Clears shown words that did not become a message. */
    forgetNoise: enqueueActions(({ context, enqueue }) => {
      const stretches = owedOf(context.stretches);
      if (context.shown && stretches.length === 0) {
        enqueue.assign({ shown: false });
        enqueue.emit({ type: 'words', text: '', final: true });
      }
      enqueue.assign({ stretches });
    }),
    noteSound: assign(({ event }) => (event.type === 'sounded' ? { probability: event.probability } : {})),
    noteSilence: assign(({ context: { stretches, span }, event }) =>
      event.type === 'voice'
        ? {
            released: event.over === true,
            fadedMs: fadeOf(event.silentMs),
            silentAt: event.at - fadeOf(event.silentMs),
            stretches: silent(stretches, span, event.at - (event.silentMs ?? NOTICED_MS)),
          }
        : {},
    ),
    /**
     * The user continues the turn, so the silence was a pause. While the agent speaks the voice may be its own: then the words
     * tell (noteWords).
     */
    notePause: enqueueActions(({ context, event, enqueue, check }) => {
      if (check(LISTENS as never)) enqueue.assign(afterSilence(context, pauseOf(context, event)));
    }),
    /** The same, if the user continues a turn that already had its message; otherwise the silence was none within a turn. */
    notePauseInTurn: enqueueActions(({ context, event, enqueue, check }) => {
      if (context.said === '') enqueue.assign({ silentAt: undefined });
      else if (check(LISTENS as never)) enqueue.assign(afterSilence(context, pauseOf(context, event)));
    }),
    weigh: raise({ type: 'overlap', finished: false }),
    /** The user has stopped: the words are complete unless another stretch is not transcribed yet. */
    weighAll: raise(({ context }) => ({ type: 'overlap' as const, finished: isWhole(context.stretches) })),
    endTurn: raise({ type: 'turnOver' }),
    tellLasting: raise({ type: 'lasting' }),
    /** Reports why the turn has ended, before its message. */
    tellEnd: enqueueActions(({ context, enqueue }) => {
      if (hasWords(context) || asksAgain(context)) enqueue.emit({ type: 'endOfTurn', ...endOfTurn(context) });
    }),

    /** Makes or replaces the turn's message, with all its words. */
    message: enqueueActions(({ context, enqueue }) => {
      const text = turnText(context);
      if (text === '') return;
      enqueue.emit(settledWords(context));
      enqueue.emit({ type: 'message', text });
      enqueue.assign({ said: text, ...withoutWords(context) });
    }),
    /** Makes a separate message of the new words, which is not answered yet. */
    messageApart: enqueueActions(({ context, enqueue }) => {
      enqueue.emit(settledWords(context));
      enqueue.emit(messageApart(context, isAgreement(context)));
      enqueue.assign(withoutWords(context));
    }),
    /** What was typed, if anything was: an answer can be asked for without a word. */
    read: enqueueActions(({ event, enqueue }) => {
      if (event.type !== 'typed' || event.text === '') return;
      enqueue.emit({ type: 'message', text: event.text, typed: true });
    }),
    closeTurn: enqueueActions(({ context, enqueue }) => {
      if (context.said === '') return;
      enqueue.emit({ type: 'closeTurn' });
      const { pace, paceKnown } = afterTurn(context);
      enqueue.assign({ said: '', paused: false, pace, paceKnown });
    }),

    /** Counts a job. An excuse is spoken if its answer would have been. */
    count: assign(({ context, event }, cause: Cause | Sentence) => ({
      job: context.job + 1,
      cause,
      silenceMs: silenceBefore(context, cause),
      aloud: event.type === 'failed' ? context.aloud : event.type !== 'typed' || event.aloud,
    })),
    /** Asks the model, which gets everything, the news included. */
    reply: enqueueActions(({ context: { job, aloud }, enqueue }, cause: Cause) => {
      enqueue.emit({ type: 'reply', job, cause, aloud });
      enqueue.raise({ type: 'informed' });
    }),
    draft: enqueueActions(({ context, event, enqueue }) => {
      const { job } = context;
      const drafted = turnText(event.type === 'foreseen' ? foreseen(context, event) : context);
      enqueue.assign({ drafted });
      enqueue.emit({ type: 'reply', job, cause: 'turn', aloud: true, draft: drafted });
      enqueue.raise({ type: 'informed' });
    }),
    sure: emit(({ context }) => ({ type: 'sure' as const, job: context.job })),
    greet: emit(({ context: { job, settings } }) => ({
      type: 'say' as const,
      job,
      text: settings.opening.mode === 'fixed' ? settings.opening.text : '',
    })),
    warn: enqueueActions(({ context, enqueue }) => {
      enqueue.emit({ type: 'warn', job: context.job });
      enqueue.raise({ type: 'warned' });
    }),
    /** Counts a failed answer, and the job that says a fixed sentence in its place: `what`, or what its cause asks for. */
    excuse: enqueueActions(({ context, event, enqueue }, what: Excuse | undefined) => {
      const job = context.job + 1;
      const aloud = event.type === 'failed' ? context.aloud : true;
      enqueue.assign({ job, aloud, cause: 'excuse', silenceMs: 0, failures: context.failures + 1 });
      enqueue.emit({ type: 'excuse', job, aloud, what: what ?? excuseFor(context) ?? 'answer' });
    }),
    noteFailedPart: assign(({ event }) =>
      event.type === 'failed' ? { failedPart: event.by ?? ('model' as const) } : {},
    ),
    noteDeaf: assign({ failedPart: 'speech' }),
    /** An answer was given: earlier failures are forgiven. */
    noteAnswered: assign(({ context }) => (isAwaited(context) ? { failures: 0 } : {})),
    fill: emit(({ context }) => ({ type: 'fill' as const, job: context.job })),
    bridge: enqueueActions(({ context, enqueue }) => {
      const job = context.job + 1;
      enqueue.assign({ job });
      enqueue.emit({ type: 'bridge', job });
    }),
    /** Tools that wait until they may begin. */
    noteWanted: assign(({ context, event }) =>
      event.type === 'wants' ? { wanted: [...context.wanted, ...event.acts] } : {},
    ),
    forgetWanted: assign({ wanted: [] }),
    proceed: emit(({ context }) => ({ type: 'proceed' as const, job: context.job })),
    desist: emit(({ context }) => ({ type: 'desist' as const, job: context.job })),
    /** Takes another agent's settings. */
    adopt: assign(({ event }) => ('settings' in event ? { settings: event.settings } : {})),
    noteReengaged: assign(({ context }) => ({ reengaged: context.reengaged + 1 })),
    sayGoodbye: emit(({ context }) => ({ type: 'goodbye' as const, job: context.job })),
    noteBeside: assign(({ event }) => (event.type === 'runsBeside' ? { owesResults: event.runs } : {})),
    noteEcho: assign({ echoes: true }),
    noteAsked: assign(({ event }) => (event.type === 'asked' ? { asked: event } : {})),
    noteUser: assign({ reengaged: 0, unclearTurns: 0 }),
    /** A voice without words is no sign of whom the agent may have lost. */
    noteUnclear: assign(({ context }) => ({ unclearTurns: context.unclearTurns + 1 })),

    bargeIn: raise({ type: 'bargeIn' }),
    /** The user's voice begins: holds the agent until more is known, if voice alone does so. */
    holdAgent: enqueueActions(({ context, enqueue }) => {
      if (holds(context)) enqueue.raise({ type: 'bargeIn' });
    }),
    goOn: raise({ type: 'goOn' }),
    noteHeard: raise({ type: 'heard' }),
    cancel: emit(({ context, event }) => ({
      type: 'cancel' as const,
      job: context.job,
      by: brokenOffBy(context, event),
    })),
    pause: emit({ type: 'pause' }),
    resume: emit(({ event }) => ({ type: 'resume' as const, goesOn: event.type === 'goOn' })),
    show: emit((_, state: 'listening' | 'thinking' | 'speaking') => ({ type: 'state' as const, state })),
    lastWords: emit({ type: 'lastWords' }),
    /** Makes a message of the user's remaining words before the end. */
    flush: enqueueActions(({ context, enqueue }) => {
      const voices = marksUnclear(context) ? owedVoices(context.stretches) : [];
      if (voices.length > 0) enqueue.emit({ type: 'owed', voices });
      if (!hasWords(context) && !asksAgain(context)) return;
      enqueue.emit(settledWords(context));
      if (context.said === '') enqueue.emit(messageApart(context, isAgreement(context)));
      else enqueue.emit({ type: 'message', text: turnText(context) });
      enqueue.assign(withoutWords(context));
    }),
    end: emit((_, reason: EndReason) => ({ type: 'end' as const, reason })),
  },
});
