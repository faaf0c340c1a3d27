import { useId, useRef, useState } from 'preact/hooks';
import { bytesText } from '../../../../../shared/core/text/bytes-text.ts';
import type { OnProgress, Progress } from '../../api/upload.ts';
import { forgetEdits } from '../edits.ts';
import { Icon } from '../icon.tsx';
import { Problem } from '../states/problem.tsx';

const stepNames = { hashing: 'Computing the hash', sending: 'Sending', checking: 'Checking' } as const;

export const ProgressBar = ({ progress: { step, done } }: { progress: Progress }) => (
  <div>
    <p class="small">
      {stepNames[step]} {Math.round(done * 100)} %
    </p>
    <div
      class="progress"
      role="progressbar"
      aria-label={stepNames[step]}
      aria-valuenow={Math.round(done * 100)}
    >
      <span style={{ width: `${done * 100}%` }} />
    </div>
  </div>
);

/** Field to choose or drop a file. It uploads the file at once, and what is typed beside it is stored with it. */
export function UploadField({
  label,
  hint,
  accept,
  onFile,
}: {
  label: string;
  hint?: string;
  accept?: string;
  onFile: (file: File, onProgress: OnProgress) => Promise<unknown>;
}) {
  const id = useId();
  const [progress, setProgress] = useState<Progress>();
  const [error, setError] = useState<unknown>();
  const [done, setDone] = useState<File>();
  const [isOver, setOver] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const send = async (file: File | undefined) => {
    if (file === undefined || progress !== undefined) return;
    setError(undefined);
    setDone(undefined);
    setProgress({ step: 'hashing', done: 0 });
    try {
      const beside = box.current?.closest('dialog') ?? box.current?.closest('.upload-row');
      await onFile(file, setProgress);
      if (beside != null) forgetEdits(beside);
      setDone(file);
    } catch (failure) {
      setError(failure);
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <div class="upload" ref={box}>
      <label
        for={id}
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void send(event.dataTransfer?.files[0]);
        }}
      >
        <Icon name={done === undefined ? 'upload' : 'check'} size={20} />
        <span>
          <strong>{label}</strong>
          {hint !== undefined && <span class="soft small">{hint}</span>}
        </span>
      </label>
      <input
        id={id}
        class="hidden"
        type="file"
        {...(accept !== undefined && { accept })}
        onChange={({ currentTarget }) => {
          void send(currentTarget.files?.[0]);
          currentTarget.value = '';
        }}
      />
      {progress !== undefined && <ProgressBar progress={progress} />}
      {done !== undefined && (
        <p class="done-note small" role="status">
          <bdi>{done.name}</bdi> is there, {bytesText(done.size)}.
        </p>
      )}
      {error !== undefined && <Problem error={error} what="The upload failed" />}
    </div>
  );
}
