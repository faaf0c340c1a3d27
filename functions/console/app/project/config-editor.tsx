import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { type ConfigFile, loadConfigFile, saveConfigFile } from '../api/files.ts';
import { Button } from '../ui/controls/button.tsx';
import { tell } from '../ui/states/notice.tsx';
import { Problem, problemText } from '../ui/states/problem.tsx';

/** Return the line number in an error message such as "line 3, column 5: …". */
const lineIn = (message: string): number | undefined => {
  const [, line] = /\bline (\d+)\b/.exec(message) ?? [];
  return line === undefined ? undefined : Number(line);
};

const linePixels = 20;

/** Called with whether a text is not stored. */
export type OnUnsaved = (isUnsaved: boolean) => void;

/** Text editor of a configuration. It numbers the lines and marks the one that the service refused. */
export function ConfigEditor({
  project_id,
  file,
  onSaved,
  onUnsaved,
}: {
  project_id: string;
  file: ConfigFile | { config_id: string; content: string; tag: undefined };
  onSaved: (config_id: string) => void;
  onUnsaved?: OnUnsaved | undefined;
}) {
  const [content, setContent] = useState(file.content);
  const [tag, setTag] = useState(file.tag);
  const [fault, setFault] = useState<{ message: string; line: number | undefined }>();
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<ConfigFile>();
  const [isBusy, setBusy] = useState(false);
  const gutter = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  // Run before the first key press: a later effect would remove the first letters.
  useLayoutEffect(() => {
    setContent(file.content);
    setTag(file.tag);
    setFault(undefined);
    setTheirs(undefined);
  }, [file]);
  const count = content.split('\n').length;
  const isChanged = content !== file.content || file.tag === undefined;
  useEffect(() => {
    onUnsaved?.(isChanged);
    return () => onUnsaved?.(false);
  }, [isChanged, onUnsaved]);
  const save = async () => {
    setBusy(true);
    setError(undefined);
    setFault(undefined);
    try {
      const { version } = await saveConfigFile(project_id, file.config_id, content, tag);
      tell(`${file.config_id} is stored as version ${version}`);
      onSaved(file.config_id);
    } catch (failure) {
      if (failure instanceof ProblemError && failure.status === 412) {
        // Keep the typed text. The next attempt replaces the present version.
        const present = await loadConfigFile(project_id, file.config_id);
        setTheirs(present);
        setTag(present.tag);
      } else if (failure instanceof ProblemError && failure.status === 400) {
        const message = problemText(failure);
        const line = lineIn(message);
        setFault({ message, line });
        if (line !== undefined && area.current !== null)
          area.current.scrollTop = Math.max(0, (line - 4) * linePixels);
      } else setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="editor">
      <div class="editor-box">
        <div class="gutter" ref={gutter} aria-hidden="true">
          {Array.from({ length: Math.min(count, 5000) }, (_, index) => (
            <span key={index} class={fault?.line === index + 1 ? 'bad' : ''}>
              {index + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={area}
          aria-label={`Content of ${file.config_id}`}
          spellcheck={false}
          wrap="off"
          rows={Math.max(10, Math.min(26, count + 1))}
          value={content}
          data-stored={file.content}
          {...(fault !== undefined && { 'aria-invalid': true, 'aria-describedby': 'editor-fault' })}
          onInput={({ currentTarget }) => setContent(currentTarget.value)}
          onScroll={({ currentTarget }) => {
            if (gutter.current !== null) gutter.current.scrollTop = currentTarget.scrollTop;
          }}
        />
      </div>
      {fault !== undefined && (
        <p class="fault" id="editor-fault" role="alert">
          {fault.message}
        </p>
      )}
      {theirs !== undefined && (
        <div class="problem" role="alert">
          <div>
            <strong>Another user has stored version {theirs.version} meanwhile</strong>
            <p>
              Your text is still here. Store it again as the next version, or load the other user's version.
            </p>
            <pre class="text">{theirs.content}</pre>
          </div>
          <Button onClick={() => setContent(theirs.content)}>Take theirs</Button>
        </div>
      )}
      {error !== undefined && <Problem error={error} />}
      <div class="bar-row">
        <Button kind="primary" onClick={save} disabled={isBusy || !isChanged}>
          {isBusy ? 'Saving…' : theirs === undefined ? 'Save' : 'Save mine'}
        </Button>
        <span class="soft small">
          {isChanged ? 'Every change becomes a new version; experiments keep theirs.' : 'Saved.'}
        </span>
      </div>
    </div>
  );
}
