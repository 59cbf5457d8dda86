/**
 * The lifecycles of database rows (contracts/lifecycle.ts), each as a table of every state and report: a new state, a new report, and a
 * new, removed or changed step must be entered here. A cell is the next state, or `stays`, then the effects after slashes; `-` is
 * ignored on purpose.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from '../../fixtures/tap.js';
import {
  PLAYED_SCENARIO,
  RUN_REPORTS,
  SCENARIO_REPORTS,
  TEST_RUN,
} from '../../../contracts/agents/test-run-states.js';
import {
  answering,
  before,
  type Lifecycle,
  statesOf,
  type Step,
  target,
} from '../../../contracts/lifecycle.js';
import { PLACED_CALL, PLACED_REPORTS } from '../../../contracts/phone/placed-states.js';
import {
  COLD_TRANSFER,
  REFERRED_TRANSFER,
  TRANSFER_REPORTS,
  WARM_TRANSFER,
} from '../../../contracts/phone/transfer-states.js';
import { DELIVERY, DELIVERY_REPORTS } from '../../../contracts/sessions/delivery-states.js';
import { SESSION, SESSION_REPORTS } from '../../../contracts/sessions/session-states.js';
import { eventsOf, type Region, tabledAnswers } from '../../fixtures/actors/answers.js';

/** Names of the lifecycles that have a table here. */
const tabled: string[] = [];

const cellOf = (step: Step<string, string> | undefined): string =>
  step ? [step.to ?? 'stays', ...step.effects].join('/') : '-';

type Columns<Report extends string> = Region<{ readonly type: Report }>;

/** Checks one lifecycle against its table; several columns of states that answer alike stand as `busy,failed`. */
function lifecycle<State extends string, Report extends string>(
  name: string,
  steps: Lifecycle<State, Report, string>,
  reports: readonly Report[],
  table: Columns<Report>,
): void {
  tabled.push(name);
  t.test(`${name}: every state answers every report on purpose`, async (t) => {
    t.strictSame(eventsOf([table]), [...reports], 'the reports, in their order');
    const defined = statesOf(steps).flatMap((state) =>
      reports.map((report) => [`${state} ${report}`, cellOf(steps[state][report])] as const),
    );
    t.strictSame(tabledAnswers([spread(table)]), Object.fromEntries(defined));
  });
}

/** A table with one column a state. */
function spread<Report extends string>({ states, answers }: Columns<Report>): Columns<Report> {
  const columns = states.trim().split(/\s+/);
  const widths = columns.map((column) => column.split(',').length);
  const wide = (row: string): string =>
    row
      .trim()
      .split(/\s+/)
      .flatMap((cell, at) => Array<string>(widths[at] ?? 1).fill(cell))
      .join(' ');
  const rows = Object.entries<string>(answers).map(([report, row]) => [report, wide(row)]);
  return {
    states: columns.join(',').replaceAll(',', ' '),
    answers: Object.fromEntries(rows) as Columns<Report>['answers'],
  };
}

lifecycle('COLD_TRANSFER', COLD_TRANSFER, TRANSFER_REPORTS, {
  states:
    '        ringing                               answered,accepted,connected  busy,no_answer,refused,voicemail,failed,cancelled',
  answers: {
    under_way: '    -                                     -                            -',
    answered: '     -                                     -                            -',
    accepted: '     -                                     -                            -',
    connected: '    connected/end_session_as_transferred  -                            -',
    busy: '         busy                                  -                            -',
    no_answer: '    no_answer                             -                            -',
    refused: '      -                                     -                            -',
    voicemail: '    -                                     -                            -',
    left: '         -                                     -                            -',
    failed: '       failed                                -                            -',
    cancelled: '    cancelled                             -                            -',
    hung_up: '      cancelled/end_session_as_hangup       -                            -',
    silent: '       connected/end_session_as_transferred  -                            -',
    session_ended: 'cancelled/hang_up_caller              -                            -',
    returned: '     -                                     -                            stays/bring_back',
  },
});

lifecycle('WARM_TRANSFER', WARM_TRANSFER, TRANSFER_REPORTS, {
  states:
    '        ringing                      answered                     accepted                     connected             busy,no_answer,refused,voicemail,failed,cancelled',
  answers: {
    under_way:
      '    -                            -                            -                            -                     stays/hang_up_colleague',
    answered:
      '     answered                     -                            -                            -                     -',
    accepted:
      '     -                            accepted                     -                            -                     -',
    connected:
      '    -                            -                            connected                    -                     stays/hang_up_caller/hang_up_colleague',
    busy: '         busy/hang_up_colleague       busy/hang_up_colleague       busy/hang_up_colleague       stays/hang_up_caller  -',
    no_answer:
      '    no_answer/hang_up_colleague  no_answer/hang_up_colleague  no_answer/hang_up_colleague  stays/hang_up_caller  -',
    refused:
      '      refused/hang_up_colleague    refused/hang_up_colleague    refused/hang_up_colleague    -                     -',
    voicemail:
      '    voicemail/hang_up_colleague  voicemail/hang_up_colleague  voicemail/hang_up_colleague  -                     stays/hang_up_colleague',
    left: '         refused/hang_up_colleague    refused/hang_up_colleague    refused/hang_up_colleague    stays/hang_up_caller  -',
    failed:
      '       failed/hang_up_colleague     failed/hang_up_colleague     failed/hang_up_colleague     stays/hang_up_caller  -',
    cancelled:
      '    cancelled/hang_up_colleague  cancelled/hang_up_colleague  cancelled/hang_up_colleague  -                     -',
    hung_up:
      '      cancelled/hang_up_colleague  cancelled/hang_up_colleague  cancelled/hang_up_colleague  -                     -',
    silent:
      '       failed/hang_up_colleague     failed/hang_up_colleague     failed/hang_up_colleague     -                     -',
    session_ended:
      'cancelled/hang_up_colleague  cancelled/hang_up_colleague  cancelled/hang_up_colleague  -                     -',
    returned:
      '     -                            -                            -                            -                     -',
  },
});

lifecycle('REFERRED_TRANSFER', REFERRED_TRANSFER, TRANSFER_REPORTS, {
  states:
    '        ringing               answered,accepted,connected  busy,no_answer,refused,voicemail,failed,cancelled',
  answers: {
    under_way: '    -                     -                            -',
    answered: '     -                     -                            -',
    accepted: '     -                     -                            -',
    connected: '    connected             -                            -',
    busy: '         busy/bring_back       -                            -',
    no_answer: '    no_answer/bring_back  -                            -',
    refused: '      refused/bring_back    -                            -',
    voicemail: '    -                     -                            -',
    left: '         -                     -                            -',
    failed: '       failed/bring_back     -                            -',
    cancelled: '    cancelled             -                            -',
    hung_up: '      -                     -                            -',
    silent: '       failed/bring_back     -                            -',
    session_ended: 'cancelled             -                            -',
    returned: '     -                     -                            stays/bring_back',
  },
});

lifecycle('PLACED_CALL', PLACED_CALL, PLACED_REPORTS, {
  states:
    '        queued                                                      ringing                                                     answered                                                    busy,no_answer,failed,cancelled,voicemail,ended',
  answers: {
    taken:
      '        -                                                           -                                                           -                                                           stays/hang_up',
    ringing:
      '      ringing                                                     -                                                           -                                                           -',
    answered:
      '     answered                                                    answered                                                    -                                                           -',
    busy: '         busy/end_waiting_session                                    busy/end_waiting_session                                    busy/end_waiting_session                                    -',
    no_answer:
      '    no_answer/end_waiting_session                               no_answer/end_waiting_session                               no_answer/end_waiting_session                               -',
    failed:
      '       failed/end_waiting_session                                  failed/end_waiting_session                                  failed/end_waiting_session                                  -',
    cancelled:
      '    cancelled/end_waiting_session                               cancelled/end_waiting_session                               cancelled/end_waiting_session                               -',
    ended:
      '        ended/end_waiting_session                                   ended/end_waiting_session                                   ended/end_waiting_session                                   -',
    machine_ended:
      'voicemail/end_waiting_session                               voicemail/end_waiting_session                               voicemail/end_waiting_session                               -',
    machine:
      '      ended/end_waiting_session/hang_up/end_session_as_hangup     ended/end_waiting_session/hang_up/end_session_as_hangup     ended/end_waiting_session/hang_up/end_session_as_hangup     -',
    stopped:
      '      cancelled/end_waiting_session/hang_up                       cancelled/end_waiting_session/hang_up                       stays/end_session_by_api                                    -',
    silent:
      '       failed/end_waiting_session/hang_up                          failed/end_waiting_session/hang_up                          ended/end_waiting_session/hang_up                           -',
    session_ended:
      'cancelled/end_waiting_session/hang_up                       cancelled/end_waiting_session/hang_up                       ended/end_waiting_session/hang_up                           -',
  },
});

lifecycle('DELIVERY', DELIVERY, DELIVERY_REPORTS, {
  states: '      waiting               delivered,failed',
  answers: {
    delivered: '  delivered             -',
    failed: '     failed                -',
    again: '      stays/due_later       -',
    early: '      stays/due_as_planned  -',
    given_up: '   failed                -',
    redelivered: '-                     waiting/due_at_once',
  },
});

lifecycle('PLAYED_SCENARIO', PLAYED_SCENARIO, SCENARIO_REPORTS, {
  states: '        queued     running    passed,failed,error,cancelled',
  answers: {
    taken: '        running    running    -',
    passed: '       -          passed     -',
    failed: '       -          failed     -',
    error: '        -          error      -',
    cancelled: '    -          cancelled  -',
    released: '     -          queued     -',
    run_cancelled: 'cancelled  cancelled  -',
  },
});

lifecycle('TEST_RUN', TEST_RUN, RUN_REPORTS, {
  states: '    queued     running    passed,failed,error,cancelled',
  answers: {
    taken: '    running    -          -',
    passed: '   passed     passed     -',
    failed: '   failed     failed     -',
    error: '    error      error      -',
    cancelled: 'cancelled  cancelled  -',
  },
});

lifecycle('SESSION', SESSION, SESSION_REPORTS, {
  states:
    '                 waiting   prepared         joined           active                lost                  completed,failed',
  answers: {
    leased:
      '               prepared  stays            stays            -                     -                     -',
    joined:
      '               joined    joined           -                -                     -                     -',
    connected:
      '            -         active           active           -                     -                     -',
    taken_over:
      '           prepared  stays            stays            stays                 active                -',
    released:
      '             -         waiting          waiting          lost/note_loss        stays/note_loss       -',
    parked:
      '               -         -                -                stays                 -                     -',
    owner_died:
      '           -         stays/note_loss  stays/note_loss  lost/note_loss        -                     -',
    agent_gone:
      '           failed    failed           -                -                     -                     -',
    hangup:
      '               failed    failed           failed           completed/report_end  completed/report_end  -',
    timeout:
      '              failed    failed           failed           completed/report_end  completed/report_end  -',
    ended_by_api:
      '         failed    failed           failed           completed/report_end  completed/report_end  -',
    error:
      '                failed    failed           failed           failed/report_end     failed/report_end     -',
    llm_endpoint_failure:
      ' failed    failed           failed           failed/report_end     failed/report_end     -',
    speech_failure:
      '       failed    failed           failed           failed/report_end     failed/report_end     -',
    not_joined:
      '           failed    failed           failed           failed/report_end     failed/report_end     -',
    transport_lost:
      '       failed    failed           failed           failed/report_end     failed/report_end     -',
    transferred:
      '          failed    failed           failed           completed/report_end  completed/report_end  -',
  },
});

t.test(
  'predecessors lead to a state by one step; answering ones are those in which a report does something',
  (t) => {
    t.strictSame(before('connected', COLD_TRANSFER, WARM_TRANSFER), ['ringing', 'accepted']);
    t.strictSame(before('answered', WARM_TRANSFER), ['ringing']);
    t.strictSame(before('ringing', WARM_TRANSFER), []);
    t.strictSame(answering('accepted', WARM_TRANSFER), ['answered']);
    t.equal(target(PLAYED_SCENARIO, 'taken'), 'running');
    t.throws(() => target(PLACED_CALL, 'session_ended'), /leads to no state, or to several/);
    t.throws(() => target(DELIVERY, 'again'), /leads to no state, or to several/);
    t.end();
  },
);

t.test('every lifecycle has its table', (t) => {
  const sources = readdirSync('contracts', { recursive: true, encoding: 'utf8' });
  const names = sources
    .filter((file) => file.endsWith('-states.ts'))
    .flatMap((file) => {
      const source = readFileSync(path.join('contracts', file), 'utf8');
      return [...source.matchAll(/^export const (\w+): \w*Lifecycle/gm)].map(([, name]) => name);
    });
  t.strictSame(names.sort(), tabled.sort());
  t.end();
});
