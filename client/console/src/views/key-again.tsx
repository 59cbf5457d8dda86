/**
 * Asks for another key in place where the one in use has ended: the view stays as it is, and what was refused is sent again. A key of
 * another workspace is not taken, since what is on the page is of this one.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { readAccount } from '../account.js';
import { whenRefused } from '../api.js';
import { KeyForm } from '../parts/key-form.js';
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
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // It is gone by then, so that it cannot give the focus back itself.
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  const check = async (signal: AbortSignal) => {
    const account = await readAccount(signal);
    if (account.workspace_id !== workspace) throw new Error(signIn.other);
  };
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-labelledby="key-again"
      onCancel={(event) => event.preventDefault()}
    >
      <div class="stack">
        <h2 id="key-again">{signIn.again}</h2>
        <p class="soft">{signIn.againHelp}</p>
        <KeyForm check={check} done={done}>
          <button class="button" type="button" onClick={signOut}>
            {signIn.out}
          </button>
        </KeyForm>
      </div>
    </dialog>
  );
}

export function KeyAgain({ workspace, signOut }: Pick<DialogProps, 'workspace' | 'signOut'>) {
  const waiting = useWaiting();
  return waiting ? <Dialog workspace={workspace} done={waiting.go} signOut={signOut} /> : null;
}
