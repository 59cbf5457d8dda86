/**
 * Runs a machine for its host: on the clock port, with one row of the host's table per effect. A host sends events and
 * performs effects; it cannot see the machine's state.
 */
import {
  type AnyStateMachine,
  createActor,
  type EmittedFrom,
  type EventFromLogic,
  type InputFrom,
} from 'xstate';
import type { Clock } from '../contracts/clock.js';
import { actorClock } from './clock.js';

/** One function per type of effect. */
export type Effects<Effect extends { readonly type: string }> = {
  readonly [Type in Effect['type']]: (effect: Extract<Effect, { readonly type: Type }>) => void;
};

/** The same as one table for many hosts: each function is given the host that performs. */
export type HostedEffects<Host, Effect extends { readonly type: string }> = {
  readonly [Type in Effect['type']]: (host: Host, effect: Extract<Effect, { readonly type: Type }>) => void;
};

export type Perform<Effect> = (effect: Effect) => void;

type Row = (...parameters: readonly unknown[]) => void;

/** Binds a table to one host. */
export function performing<Host, Effect extends { readonly type: string }>(
  effects: HostedEffects<Host, Effect>,
  host: Host,
): Perform<Effect> {
  const rows = effects as Readonly<Record<string, Row>>;
  return (effect) => rows[effect.type]?.(host, effect);
}

/** Combines the functions of a table into one. */
export function performed<Effect extends { readonly type: string }>(
  effects: Effects<Effect> | Perform<Effect>,
): Perform<Effect> {
  if (typeof effects === 'function') return effects;
  const rows = effects as Readonly<Record<string, Row>>;
  return (effect) => rows[effect.type]?.(effect);
}

export interface RunningMachine<Event> {
  /** Handles the event at once, effects included; within an effect, as soon as the current event is done. */
  send(event: Event): void;
}

/**
 * Starts the machine. Effects are performed in the order in which the machine decides them. An error thrown by an effect goes
 * to `failed` if given, else to the sender of the event once all effects were performed: XState would throw it where nobody
 * can catch it, and that would end the process.
 */
export function run<Machine extends AnyStateMachine>(
  machine: Machine,
  input: InputFrom<Machine>,
  clock: Clock,
  effects: Effects<EmittedFrom<Machine>> | Perform<EmittedFrom<Machine>>,
  failed?: (error: unknown) => void,
): RunningMachine<EventFromLogic<Machine>> {
  const actor = createActor<AnyStateMachine>(machine, { input, clock: actorClock(clock) });
  const perform = performed(effects) as Perform<object>;
  const owed = new OwedError();
  actor.on('*', (effect) => {
    try {
      perform(effect);
    } catch (error) {
      if (failed) failed(error);
      else owed.keep(error);
    }
  });
  owed.during(() => actor.start());
  return { send: (event) => owed.during(() => actor.send(event)) };
}

/**
 * The same for a machine whose first state does nothing by itself: its first event starts it, so that a socket with a
 * silent client holds no actor. If an event of type `last` comes first, the machine never starts: such an event only undoes
 * the work of others.
 */
export function runOnDemand<Machine extends AnyStateMachine>(
  machine: Machine,
  input: InputFrom<Machine>,
  clock: Clock,
  effects: () => Effects<EmittedFrom<Machine>> | Perform<EmittedFrom<Machine>>,
  last: EventFromLogic<Machine>['type'],
): RunningMachine<EventFromLogic<Machine>> {
  let running: RunningMachine<EventFromLogic<Machine>> | undefined;
  let over = false;
  return {
    send(event) {
      over ||= !running && event.type === last;
      if (over) return;
      running ??= run(machine, input, clock, effects());
      running.send(event);
    },
  };
}

/** Keeps the first error that effects threw, and throws it when the outermost call that led to it has ended. */
class OwedError {
  #depth = 0;
  #thrown: { readonly error: unknown } | undefined;

  /** Throws at once if there is no sender, as with the machine's own timers. */
  keep(error: unknown): void {
    if (this.#depth === 0) throw error;
    this.#thrown ??= { error };
  }

  during(work: () => void): void {
    this.#depth += 1;
    try {
      work();
    } finally {
      this.#depth -= 1;
    }
    if (this.#depth > 0 || !this.#thrown) return;
    const { error } = this.#thrown;
    this.#thrown = undefined;
    throw error;
  }
}
