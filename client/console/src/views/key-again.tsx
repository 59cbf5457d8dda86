/**
 * Asks for another key in place where the one in use has ended: the view stays as it is, and what was refused is sent again. A key of
 * another workspace is not taken, since what is on the page is of this one.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { readAccount } from '../account.js';
import { key, request, whenRefused } from '../api.js';
import { submitting, useAction } from '../hooks.js';
import { Failure, Field } from '../parts/basics.js';
import { texts } from '../texts.js';

const { signIn } = texts;

/** Undefined while no request waits for a key. */
function useWaiting(): { readonly go: () => void } | undefined {
  const [waiting, setWaiting] = useState<{ readonly go: () => void } | undefined>();
  useEffect(() => {
    whenRefused.ask = () =>
      new Promise((resolve) =>
        setWaiting({
          go() {
            setWaiting(undefined);
            resolve();
          },
        }),
      );
    return () => {
      whenRefused.ask = undefined;
    };
  }, []);
  return waiting;
}

interface DialogProps {
  readonly workspace: string;
  readonly done: () => void;
  readonly signOut: () => void;
}

function Dialog({ workspace, done, signOut }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const trial = useAction(async (signal) => {
    const before = key.read();
    key.keep(text.trim());
    try {
      const account = await readAccount(signal);
      if (account.workspace_id !== workspace) throw new Error(signIn.other);
      await request('v1/sign-ins', { method: 'POST', signal, isTrial: true });
      done();
    } catch (error) {
      key.keep(before);
      throw error;
    }
  });
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-labelledby="key-again"
      onCancel={(event) => event.preventDefault()}
    >
      <form class="stack" onSubmit={submitting(trial)}>
        <h2 id="key-again">{signIn.again}</h2>
        <p class="soft">{signIn.againHelp}</p>
        <Field label={signIn.key}>
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
          <button class="button" type="button" onClick={signOut}>
            {signIn.out}
          </button>
        </div>
        <Failure error={trial.error} advice={signIn.advice} />
      </form>
    </dialog>
  );
}

export function KeyAgain({ workspace, signOut }: Pick<DialogProps, 'workspace' | 'signOut'>) {
  const waiting = useWaiting();
  return waiting ? <Dialog workspace={workspace} done={waiting.go} signOut={signOut} /> : null;
}
