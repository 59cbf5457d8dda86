/** A button to choose a file, since the text of the browser's own control cannot be changed. */
import { useRef } from 'preact/hooks';

export function FileButton({
  label,
  accept,
  disabled = false,
  primary = false,
  take,
}: {
  readonly label: string;
  readonly accept: string;
  readonly disabled?: boolean;
  readonly primary?: boolean;
  readonly take: (file: File) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const chosen = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    const file = currentTarget.files?.[0];
    if (file) take(file);
    currentTarget.value = '';
  };
  return (
    <>
      <input ref={input} type="file" accept={accept} hidden aria-label={label} onChange={chosen} />
      <button
        class={`button ${primary ? 'primary' : ''}`}
        type="button"
        disabled={disabled}
        onClick={() => input.current?.click()}
      >
        {label}
      </button>
    </>
  );
}
