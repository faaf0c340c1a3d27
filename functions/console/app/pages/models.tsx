import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { loadModels, type Model } from '../api/models.ts';
import { ownRights } from '../api/rights.ts';
import { acceptModel, uploadModelFile } from '../api/upload.ts';
import { useLive } from '../api/use-live.ts';
import { ModelNameField, modelNameOf } from '../models/sets/model-name.tsx';
import { SetUploads } from '../models/sets/set-uploads.tsx';
import { TakeModel } from '../models/sets/take-model.tsx';
import { NamesList } from '../registry/names-list.tsx';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { UploadField } from '../ui/controls/upload-field.tsx';
import { Listing } from '../ui/listing.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { go, href, place, setQuery } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { lazy } from '../ui/states/lazy.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { numberText } from '../ui/text/format.ts';

const HubDialog = lazy(() => import('../models/hub-dialog.tsx').then((module) => module.HubDialog));

/** Form to upload a model: the ONNX file, and its calibration and evaluation sets. */
function UploadModel({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [uploaded, setUploaded] = useState('');
  return (
    <Dialog title="Upload a model" onClose={onClose}>
      <div class="form wide">
        <ModelNameField name={name} onName={setName} />
        <UploadField
          label="Choose an ONNX file, or drop it here"
          accept=".onnx"
          onFile={async (file, onProgress) => {
            const model_name = name.trim() || modelNameOf(file.name);
            setName(model_name);
            await uploadModelFile(model_name, 'model', file, onProgress);
            await acceptModel(model_name);
            setUploaded(model_name);
          }}
        />
        <details class="graph-fold">
          <summary>Calibration and evaluation sets</summary>
          <div class="form wide">
            <SetUploads nameOf={() => uploaded || name} />
          </div>
        </details>
      </div>
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button kind="primary" disabled={uploaded === ''} onClick={() => go(href(['models', uploaded]))}>
          Open the model
        </Button>
      </footer>
    </Dialog>
  );
}

/** How a model came about. The link needs no request for the name of what it leads to. */
const Origin = ({ origin }: Pick<Model, 'origin'>) => {
  if (origin.kind === 'upload') return 'uploaded';
  if (origin.kind === 'artifact')
    return (
      <a href={href(['projects', origin.project_id, 'experiments', origin.experiment_id])}>
        from an experiment
      </a>
    );
  return (
    <>
      compressed from{' '}
      <a href={href(['models', origin.model_name])}>
        <bdi>{origin.model_name}</bdi>
      </a>
    </>
  );
};

const ModelTable = ({ models }: { models: readonly Model[] }) => (
  <Listing
    label="Models"
    headings={[
      'Model',
      'Made',
      { name: 'Size', class: 'right' },
      { name: 'Parameters', class: 'right' },
      'Owner',
      { name: 'Last change', class: 'right' },
    ]}
  >
    {models.map((model) => (
      <tr key={model.model_id}>
        <th scope="row">
          <a href={href(['models', model.model_name])}>
            <bdi>{model.model_name}</bdi>
          </a>{' '}
          {model.status !== 'ready' && <span class="chip">not complete yet</span>}
          {model.has_evaluation && <span class="chip">evaluation set</span>}
        </th>
        <td>
          <Origin origin={model.origin} />
        </td>
        <td class="right number">{model.status === 'ready' ? bytesText(model.bytes) : '–'}</td>
        <td class="right number">{numberText(model.parameters)}</td>
        <td>
          <bdi>{model.owner ?? 'nobody'}</bdi>
        </td>
        <td class="right number soft">
          <Ago time={model.updated_at} />
        </td>
      </tr>
    ))}
  </Listing>
);

/** Page of all models. */
export function ModelsPage() {
  const live = useLive('models', loadModels, { every: () => 20_000 });
  const { query } = place.value;
  const [from, path, project] = [query.get('from'), query.get('path'), query.get('project')];
  const { mayCreate } = ownRights();
  const close = () => {
    setQuery({ hub: undefined, upload: undefined, from: undefined, path: undefined, project: undefined });
    void live.refresh();
  };
  return (
    <>
      <PageHead title="Models">
        {mayCreate && (
          <>
            <Button icon="cube" onClick={() => setQuery({ hub: '1' })}>
              From Hugging Face
            </Button>
            <Button kind="primary" icon="upload" onClick={() => setQuery({ upload: '1' })}>
              Upload a model
            </Button>
          </>
        )}
      </PageHead>
      {mayCreate && query.has('hub') && <HubDialog onClose={close} />}
      {mayCreate && query.has('upload') && <UploadModel onClose={close} />}
      {mayCreate && from !== null && path !== null && project !== null && (
        <TakeModel project_id={project} experiment_id={from} path={path} onClose={close} />
      )}
      <Loaded live={live} what="The models could not be loaded">
        {(models) =>
          models.length === 0 ? (
            <Empty title="No models yet" icon="cube">
              {mayCreate && (
                <p>
                  Upload an ONNX file, take a model from Hugging Face, or register an artifact of an
                  experiment. Then prune and quantize it.
                </p>
              )}
            </Empty>
          ) : (
            <ModelTable models={models} />
          )
        }
      </Loaded>
      <NamesList />
    </>
  );
}
