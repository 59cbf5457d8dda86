/**
 * Runs a machine for the host beside it: on the clock port, with a row of the host's table for each effect. A host sends
 * events and performs effects; it cannot look into the machine's state.
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

/** A function for each effect, by the effect's type. */
export type Effects<Effect extends { readonly type: string }> = {
  readonly [Type in Effect['type']]: (effect: Extract<Effect, { readonly type: Type }>) => void;
};

/** The same as one table for many hosts, each function given the one that performs. */
export type HostedEffects<Host, Effect extends { readonly type: string }> = {
  readonly [Type in Effect['type']]: (host: Host, effect: Extract<Effect, { readonly type: Type }>) => void;
};

/** Performs an effect. */
export type Perform<Effect> = (effect: Effect) => void;

type Row = (...parameters: readonly unknown[]) => void;

/** The function of a table for one host. */
export function performing<Host, Effect extends { readonly type: string }>(
  effects: HostedEffects<Host, Effect>,
  host: Host,
): Perform<Effect> {
  const rows = effects as Readonly<Record<string, Row>>;
  return (effect) => rows[effect.type]?.(host, effect);
}

/** The functions of a table as one. */
export function performed<Effect extends { readonly type: string }>(
  effects: Effects<Effect> | Perform<Effect>,
): Perform<Effect> {
  if (typeof effects === 'function') return effects;
  const rows = effects as Readonly<Record<string, Row>>;
  return (effect) => rows[effect.type]?.(effect);
}

/** A machine that runs. */
export interface Running<Event> {
  /** Decides at once, effects included; within an effect, as soon as the present event is done. */
  send(event: Event): void;
}

/**
 * Starts it. Effects happen in the order in which the machine decides them. What one of them throws goes to `failed`, where
 * there is one; without it, to who sent the event, once all effects have happened: the library would throw it to nobody,
 * and that ends the process.
 */
export function run<Machine extends AnyStateMachine>(
  machine: Machine,
  input: InputFrom<Machine>,
  clock: Clock,
  effects: Effects<EmittedFrom<Machine>> | Perform<EmittedFrom<Machine>>,
  failed?: (error: unknown) => void,
): Running<EventFromLogic<Machine>> {
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
 * The same for a machine whose first state does nothing by itself: its first event starts it, so that a socket whose
 * client says nothing holds no actor. An event of type `last` before any other ends it unstarted: for events that only
 * undo what others did.
 */
export function runOnDemand<Machine extends AnyStateMachine>(
  machine: Machine,
  input: InputFrom<Machine>,
  clock: Clock,
  effects: () => Effects<EmittedFrom<Machine>> | Perform<EmittedFrom<Machine>>,
  last: EventFromLogic<Machine>['type'],
): Running<EventFromLogic<Machine>> {
  let running: Running<EventFromLogic<Machine>> | undefined;
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

/** What an effect threw, until the outermost of the calls that led to it has ended; of several errors, the first. */
class OwedError {
  #depth = 0;
  #thrown: { readonly error: unknown } | undefined;

  /** Without a sender (a timer of the machine), it is thrown where it stands. */
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
