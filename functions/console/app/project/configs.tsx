import { useRef, useState } from 'preact/hooks';
import { loadConfigFile, loadConfigGraph, loadConfigs } from '../api/files.ts';
import { useLive } from '../api/use-live.ts';
import { Button } from '../ui/controls/button.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { Drawing } from '../ui/drawing.tsx';
import { leaveEdits } from '../ui/edits.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { ConfigEditor, type OnUnsaved } from './config-editor.tsx';

const first = 'learning_rate: 0.01\nepochs: 5\n';

function Editing({
  project_id,
  config_id,
  mayChange,
  onSaved,
  onUnsaved,
}: {
  project_id: string;
  config_id: string;
  mayChange: boolean;
  onSaved: () => void;
  onUnsaved?: OnUnsaved | undefined;
}) {
  const live = useLive(`file/${project_id}/${config_id}`, () => loadConfigFile(project_id, config_id));
  const graph = useLive(`filegraph/${project_id}/${config_id}`, () => loadConfigGraph(project_id, config_id));
  const saved = () => {
    void live.refresh();
    void graph.refresh();
    onSaved();
  };
  return (
    <>
      <Loaded live={live} what="The configuration could not be loaded">
        {(file) =>
          mayChange ? (
            <ConfigEditor {...{ project_id, file, onUnsaved }} onSaved={saved} />
          ) : (
            <pre class="text" tabIndex={0}>
              {file.content}
            </pre>
          )
        }
      </Loaded>
      {graph.data !== undefined && (
        <details class="graph-fold">
          <summary>Graph</summary>
          <Drawing svg={graph.data} label={`Graph of ${config_id}`} />
        </details>
      )}
    </>
  );
}

/** Configurations of a project, with one open for editing. */
export function Configs({
  project_id,
  mayChange,
  chosen,
  onChoose,
  onUnsaved,
}: {
  project_id: string;
  mayChange: boolean;
  chosen: string | undefined;
  onChoose: (config_id: string) => void;
  onUnsaved?: OnUnsaved;
}) {
  const live = useLive(`configs/${project_id}`, () => loadConfigs(project_id));
  const box = useRef<HTMLDivElement>(null);
  const [isNew, setNew] = useState(false);
  const [name, setName] = useState('train.yaml');
  const [draft, setDraft] = useState<{ config_id: string; content: string; tag: undefined }>();
  return (
    <Loaded live={live} what="The configurations could not be loaded">
      {(configs) => {
        const current = configs.find(({ config_id }) => config_id === chosen) ?? configs[0];
        const saved = (config_id: string) => {
          setDraft(undefined);
          setNew(false);
          onChoose(config_id);
          void live.refresh();
        };
        return (
          <div ref={box}>
            <div class="bar-row">
              {configs.length > 0 && (
                <select
                  class="grow"
                  aria-label="Configuration"
                  value={current?.config_id ?? ''}
                  onChange={({ currentTarget }) => {
                    const { value } = currentTarget;
                    // Until the answer, the choice is that of the text on the page.
                    currentTarget.value = current?.config_id ?? '';
                    leaveEdits(() => {
                      setDraft(undefined);
                      onChoose(value);
                    }, box.current);
                  }}
                >
                  {configs.map(({ config_id, version }) => (
                    <option key={config_id} value={config_id}>
                      {config_id}, version {version}
                    </option>
                  ))}
                </select>
              )}
              {mayChange && (
                <Button icon="plus" onClick={() => setNew(!isNew)} expanded={isNew}>
                  New
                </Button>
              )}
            </div>
            {configs.length === 0 && !mayChange && <p class="soft small">None yet.</p>}
            {mayChange && (isNew || configs.length === 0) && draft === undefined && (
              <Form
                action="Write the configuration"
                kind="plain"
                onSubmit={async () => setDraft({ config_id: name, content: first, tag: undefined })}
              >
                <TextField
                  label="File name"
                  hint="Its extension determines the format: .yaml, .json or .toml."
                  class="mono"
                  value={name}
                  onText={setName}
                />
              </Form>
            )}
            {draft !== undefined ? (
              <ConfigEditor {...{ project_id, onUnsaved }} file={draft} onSaved={saved} />
            ) : (
              current !== undefined && (
                <Editing
                  key={current.config_id}
                  project_id={project_id}
                  config_id={current.config_id}
                  mayChange={mayChange}
                  onUnsaved={onUnsaved}
                  onSaved={() => void live.refresh()}
                />
              )
            )}
          </div>
        );
      }}
    </Loaded>
  );
}
