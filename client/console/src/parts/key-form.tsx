/** The form in which a key is typed, and tried before it is kept, which leaves an entry in the audit trail. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { key, request } from '../api.js';
import { submitting, useAction } from '../hooks.js';
import { texts } from '../texts.js';
import { Failure, Field } from './basics.js';

const { signIn } = texts;

/** Keeps what was there before. */
function restore(before: string): void {
  if (before === '') key.forget();
  else key.keep(before);
}

/** `check`: whether this key will do, once it is in use. Errors of it: those that are shown. `children`: other buttons. */
export function KeyForm({
  help,
  check,
  done,
  children,
}: {
  readonly help?: string;
  readonly check?: (signal: AbortSignal) => Promise<void>;
  readonly done: () => void;
  readonly children?: ComponentChildren;
}) {
  const [text, setText] = useState('');
  const trial = useAction(async (signal) => {
    const before = key.read();
    key.keep(text.trim());
    try {
      await check?.(signal);
      await request('v1/sign-ins', { method: 'POST', signal, isTrial: true });
      done();
    } catch (error) {
      restore(before);
      throw error;
    }
  });
  return (
    <form class="stack" onSubmit={submitting(trial)}>
      <Field label={signIn.key} {...(help !== undefined && { help })}>
        {(tied) => (
          <input
            {...tied}
            type="password"
            autocomplete="off"
            required
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      <div class="row">
        <button class="button primary" disabled={trial.busy}>
          {signIn.submit}
        </button>
        {children}
      </div>
      <Failure error={trial.error} advice={signIn.advice} />
    </form>
  );
}
