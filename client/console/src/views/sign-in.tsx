/** The sign-in form: tries a key before keeping it, which leaves an entry in the audit trail. */
import { useEffect, useState } from 'preact/hooks';
import { key, request } from '../api.js';
import { submitting, useAction } from '../hooks.js';
import { Failure, Field } from '../parts/basics.js';
import { texts } from '../texts.js';

export function SignIn({ done }: { readonly done: () => void }) {
  const [text, setText] = useState('');
  useEffect(() => {
    document.title = `${texts.signIn.title} · ${texts.name}`;
  }, []);
  const trial = useAction(async (signal) => {
    key.keep(text.trim());
    try {
      await request('v1/sign-ins', { method: 'POST', signal, isTrial: true });
      done();
    } catch (error) {
      key.forget();
      throw error;
    }
  });
  return (
    <main class="gate stack">
      <h1>{texts.name}</h1>
      <form class="stack" onSubmit={submitting(trial)}>
        <Field label={texts.signIn.key} help={texts.signIn.help}>
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
        <div>
          <button class="button primary" disabled={trial.busy}>
            {texts.signIn.submit}
          </button>
        </div>
        <Failure error={trial.error} advice={texts.signIn.advice} />
      </form>
    </main>
  );
}
