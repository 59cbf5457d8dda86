/** Passes the turns of one conversation from its machine and its host to its record, its client and its operator. */
import type { AgentEffect, AgentEvent } from '../../../../actors/agent/events.js';
import type { Perform, RunningMachine } from '../../../../actors/run.js';
import type { Clock } from '../../../../contracts/clock.js';
import type { Turn } from '../../../../contracts/sessions/turns.js';
import type { NoteTurn, TellTurn } from './turn-events.js';
import { TurnLog } from './turn-log.js';

export interface TurnRecordParts {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The number of the last row, if another process began the conversation. */
  readonly last: number | undefined;
  /** The turn id of messages that are recorded now. */
  turnId(): number;
  /** Called when a row is new or has changed. */
  keep(turn: Turn): void;
  /** Called once for each turn, when it has ended. */
  over(turn: Turn): void;
}

export class TurnRecord {
  readonly #log: TurnLog;

  constructor(private readonly parts: TurnRecordParts) {
    const { clock, last, turnId, keep, over } = parts;
    const epoch = clock.now() - Math.round(clock.monotonic());
    const tell: TellTurn = (turn, phase) => {
      keep(turn);
      if (phase === 'over') over(turn);
    };
    this.#log = new TurnLog(epoch, turnId, tell, last);
  }

  readonly note: NoteTurn = (note) => this.#log.note(note, this.#at);

  /** Notes effects after they are performed: the turn id of a message is known then. */
  performing(perform: Perform<AgentEffect>): Perform<AgentEffect> {
    return (effect) => {
      perform(effect);
      this.#log.note(effect, this.#at);
    };
  }

  /** Notes events before the machine decides. */
  noting(machine: RunningMachine<AgentEvent>): RunningMachine<AgentEvent> {
    return {
      send: (event) => {
        this.#log.note(event, this.#at);
        machine.send(event);
      },
    };
  }

  /** Nothing follows. */
  close(): void {
    this.#log.close(this.#at);
  }

  get #at(): number {
    return this.parts.clock.monotonic();
  }
}
