import { useState } from 'preact/hooks';
import { type Sets, setsBeside } from '../../../../../shared/onnx-models/sets-beside.ts';
import { loadArtifacts } from '../../api/experiments.ts';
import { modelFromArtifact } from '../../api/upload.ts';
import { useLive } from '../../api/use-live.ts';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { Form } from '../../ui/controls/form.tsx';
import { go, href } from '../../ui/router.ts';
import { Loaded } from '../../ui/states/loaded.tsx';
import { ModelNameField, modelNameOf } from './model-name.tsx';
import { SetFields, usablePaths } from './set-fields.tsx';

/** Form to create a model from an experiment's artifact, with the data sets next to it. */
export function TakeModel({
  project_id,
  experiment_id,
  path,
  onClose,
}: {
  project_id: string;
  experiment_id: string;
  path: string;
  onClose: () => void;
}) {
  const [name, setName] = useState(modelNameOf(path));
  const [chosen, setChosen] = useState<Sets>();
  const artifacts = useLive(`artifacts/${experiment_id}`, () => loadArtifacts({ project_id, experiment_id }));
  const paths = usablePaths(artifacts.data ?? []);
  const sets = chosen ?? setsBeside(path, paths);
  return (
    <Dialog title="Register an artifact as a model" onClose={onClose}>
      <p class="soft small">
        <bdi>{path}</bdi> of experiment {experiment_id}
      </p>
      <Form
        action="Register as a model"
        isReady={artifacts.data !== undefined}
        onSubmit={async () => {
          await modelFromArtifact(name, experiment_id, { path, ...sets });
          go(href(['models', name]));
        }}
      >
        <ModelNameField name={name} onName={setName} />
        <Loaded live={artifacts} rows={2} what="The files of the experiment could not be loaded">
          {() => <SetFields paths={paths} sets={sets} onSets={setChosen} />}
        </Loaded>
      </Form>
    </Dialog>
  );
}
