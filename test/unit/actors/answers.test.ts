/**
 * Each machine's table of answers (test/fixtures/actors/answers.ts): every state handles every event on purpose. A new state,
 * a new event, and a new, removed or changed transition must be entered here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from '../../fixtures/tap.js';
import type { AnyStateMachine } from 'xstate';
import { agentMachine } from '../../../actors/agent/agent.js';
import type { AgentEvent } from '../../../actors/agent/events.js';
import { claim, type ClaimEvent } from '../../../actors/claim.js';
import { connection, type ConnectionEvent } from '../../../actors/connection.js';
import { type LiveEvent, nativeLive } from '../../../actors/native-live.js';
import { realtime, type RealtimeEvent } from '../../../actors/realtime.js';
import { type SpeechSocketEvent, speechSocket } from '../../../actors/stream-input-socket.js';
import { streamInput, type StreamInputEvent } from '../../../actors/stream-input.js';
import { type SessionEvent, transcriptionSession } from '../../../actors/transcription-session.js';
import { AGENT_ANSWERS } from '../../fixtures/actors/agent-answers.js';
import { definedAnswers, eventsOf, type Region, tabledAnswers } from '../../fixtures/actors/answers.js';

/** Ids of the machines that have a table. */
const tabled: string[] = [];

/** Checks one machine against its table; `regions` are all its states, each once. */
function answers<Event extends { readonly type: string }>(
  name: string,
  machine: AnyStateMachine,
  ...regions: readonly Region<Event>[]
): void {
  tabled.push(machine.id);
  t.test(`${name}: every state answers every event on purpose`, async (t) => {
    t.strictSame(tabledAnswers(regions), definedAnswers(machine, eventsOf(regions)));
  });
}

answers<LiveEvent>('live text of the native API', nativeLive, {
  states: '  unstarted  resting  open       draining ',
  answers: {
    start: ' running    running  closed     closed   ',
    // While it is open, text and flushes go into the job's feed, past the machine.
    text: '  closed     closed   -          closed   ',
    flush: ' closed     closed   -          -        ',
    stop: '  closed     closed   draining   -        ',
    done: '  -          -        resting|-  resting|-',
    failed: '-          -        closed|-   closed|- ',
    fault: ' closed     closed   closed     closed   ',
    gone: '  closed     closed   closed     closed   ',
  },
});

answers<ClaimEvent>('claim of a join token', claim, {
  states: '     unclaimed   signalling     unheard     givingBack',
  answers: {
    opened: '   signalling  stays          signalling  -         ',
    closed: '   -           unheard|stays  -           -         ',
    connected: 'claimed     claimed        claimed     -         ',
    over: '     claimed     claimed        claimed     -         ',
    given: '    -           -              -           givenBack ',
  },
});

answers<SpeechSocketEvent>('speech socket of protocol B', speechSocket, {
  states: '      unknown  empty     occupied  leaving',
  answers: {
    identified: 'taking   -         -         -      ',
    // Contexts have their own silence timers.
    message: '   -        empty     -         -      ',
    opened: '    -        occupied  -         -      ',
    emptied: '   -        -         empty     closed ',
    leave: '     -        closed    leaving   -      ',
    fault: '     closed   closed    closed    closed ',
    gone: '      closed   closed    closed    closed ',
  },
});

answers<StreamInputEvent>('one context of a speech socket', streamInput, {
  states: '   silent         open      draining',
  answers: {
    message: 'silent         open      -       ',
    // The running job reads the text that was fed.
    speak: '  closed|open|-  -         -       ',
    end: '    closed         draining  -       ',
    stop: '   closed         closed    closed  ',
    done: '   -              closed    closed  ',
    failed: ' closed         closed    closed  ',
    gone: '   closed         closed    closed  ',
  },
});

answers<SessionEvent>('realtime transcription of protocol B', transcriptionSession, {
  states: '       idle          interim       transcribing     ',
  answers: {
    // When the job has ended, the host reports again that a partial transcript is due.
    audio: '      interim       -             -                ',
    commit: '     transcribing  transcribing  stays            ',
    refusal: '    stays         stays         stays            ',
    transcript: ' -             -             answered|-       ',
    failed: '     -             -             closed|answered|-',
    interimText: '-             idle|-        -                ',
    noInterim: '  -             idle|-        -                ',
    fault: '      closed|stays  closed|stays  closed|stays     ',
    gone: '       closed        closed        closed           ',
  },
});

answers<RealtimeEvent>('realtime session of protocol A', realtime, {
  states: '               open     settled         changing  silent      responding  ',
  answers: {
    update: '             -        changing|stays  -         -           -           ',
    voiceFound: '         -        -               settled   -           -           ',
    voiceRefused: '       -        -               settled   -           -           ',
    commit: '             stays    -               -         -           -           ',
    create: '             stays    -               -         -           -           ',
    clear: '              stays    -               -         -           -           ',
    delete: '             stays    -               -         -           -           ',
    truncate: '           stays    -               -         -           -           ',
    respond: '            -        -               -         responding  stays       ',
    cancel: '             -        -               -         stays       silent|stays',
    spoken: '             -        -               -         -           silent|-    ',
    broke: '              -        -               -         -           silent|-    ',
    transcript: '         stays|-  -               -         -           -           ',
    transcriptionFailed: 'stays|-  -               -         -           -           ',
    gone: '               gone     -               -         -           gone        ',
  },
});

answers<ConnectionEvent>(
  'connection of a client to a call',
  connection,
  {
    states: '        open     closing',
    answers: {
      join: '        -        -      ',
      resume: '      -        -      ',
      unnegotiable: '-        -      ',
      leave: '       -        -      ',
      gone: '        -        -      ',
      mediaUp: '     -        -      ',
      mediaDown: '   -        -      ',
      close: '       closing  -      ',
    },
  },
  {
    states: '        down  up  ',
    answers: {
      join: '        -     down',
      resume: '      -     -   ',
      unnegotiable: '-     -   ',
      leave: '       -     -   ',
      gone: '        -     -   ',
      mediaUp: '     up|-  -   ',
      mediaDown: '   -     down',
      close: '       -     -   ',
    },
  },
  {
    states: '        absent           joined           rejoining        away           ',
    answers: {
      join: '        joined           joined           joined           joined         ',
      resume: '      stays|rejoining  stays|rejoining  stays|rejoining  stays|rejoining',
      unnegotiable: '-                rejoining|-      stays|-          -              ',
      leave: '       -                -                -                -              ',
      gone: '        -                away|-           away|-           -              ',
      mediaUp: '     -                -                -                -              ',
      mediaDown: '   -                -                -                -              ',
      close: '       -                -                -                -              ',
    },
  },
  {
    states: '        staying                    leaving                    leavingToRejoin          ',
    answers: {
      join: '        -                          staying                    staying                  ',
      resume: '      -                          staying|-                  staying|-                ',
      unnegotiable: '-                          -                          -                        ',
      leave: '       leavingToRejoin|leaving|-  leavingToRejoin|leaving|-  leavingToRejoin|leaving|-',
      gone: '        -                          -                          -                        ',
      mediaUp: '     -                          -                          -                        ',
      mediaDown: '   -                          -                          -                        ',
      close: '       -                          -                          -                        ',
    },
  },
);

answers<AgentEvent>('agent', agentMachine, ...AGENT_ANSWERS);

t.test('every machine has its table', async (t) => {
  const sources = readdirSync('actors', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const ids = sources.flatMap((file) => {
    const source = readFileSync(path.join('actors', file), 'utf8');
    return [...source.matchAll(/createMachine\(\{\s*id: '(\w+)'/g)].map(([, id]) => id);
  });
  t.strictSame(ids.sort(), tabled.sort());
});
