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

/** A machine that runs. */
export interface Running<Event> {
  /** Decides at once, effects included; within an effect, as soon as the present event is done. */
  send(event: Event): void;
}

/**
 * Starts it. Effects happen in the order in which the machine decides them. `failed` takes what one of them throws, where
 * that is to end less than the process.
 */
export function run<Machine extends AnyStateMachine>(
  machine: Machine,
  input: InputFrom<Machine>,
  clock: Clock,
  effects: Effects<EmittedFrom<Machine>>,
  failed?: (error: unknown) => void,
): Running<EventFromLogic<Machine>> {
  const actor = createActor<AnyStateMachine>(machine, { input, clock: actorClock(clock) });
  const rows = effects as Readonly<Record<string, (effect: object) => void>>;
  actor.on('*', (effect) => {
    try {
      rows[effect.type]?.(effect);
    } catch (error) {
      if (!failed) throw error;
      failed(error);
    }
  });
  actor.start();
  return { send: (event) => actor.send(event) };
}
