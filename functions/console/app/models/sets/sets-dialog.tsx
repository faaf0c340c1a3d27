import { useState } from 'preact/hooks';
import { type Sets, setsBeside } from '../../../../../shared/onnx-models/sets-beside.ts';
import { loadArtifacts } from '../../api/experiments.ts';
import { addSets, type ModelDetails } from '../../api/models.ts';
import { findExperiments } from '../../api/projects.ts';
import { useLive } from '../../api/use-live.ts';
import { ProjectField } from '../../runs/project-field.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Form } from '../../ui/controls/form.tsx';
import { TextField } from '../../ui/controls/text-field.tsx';
import { Loaded } from '../../ui/states/loaded.tsx';
import { tell } from '../../ui/states/notice.tsx';
import { SetFields, usablePaths } from './set-fields.tsx';
import { SetUploads } from './set-uploads.tsx';

/**
 * Fields to choose an experiment of any project. They offer the newest ones, or those whose names contain a text.
 */
function ExperimentFields({
  project_id,
  experiment_id,
  onChoose,
}: {
  project_id: string;
  experiment_id: string;
  onChoose: (project_id: string, experiment_id: string) => void;
}) {
  const [wanted, setWanted] = useState('');
  const live = useLive(`found/${project_id}/${wanted}`, async () =>
    project_id === '' ? undefined : findExperiments(project_id, wanted),
  );
  const rows = live.data?.rows ?? [];
  return (
    <>
      <ProjectField
        label="Project"
        none="Choose a project"
        value={project_id}
        onChoose={(chosen) => onChoose(chosen, '')}
      />
      {project_id !== '' && (
        <>
          <TextField label="Search experiments by name" value={wanted} onText={setWanted} />
          <Field
            label="Experiment"
            hint={
              live.data?.next === undefined ? undefined : 'The newest experiments. Search by name for others.'
            }
          >
            {(attributes) => (
              <select
                {...attributes}
                value={experiment_id}
                onChange={({ currentTarget }) => onChoose(project_id, currentTarget.value)}
              >
                <option value="">Choose an experiment</option>
                {experiment_id !== '' && rows.every((row) => row.experiment_id !== experiment_id) && (
                  <option value={experiment_id}>{experiment_id}</option>
                )}
                {rows.map((row) => (
                  <option key={row.experiment_id} value={row.experiment_id}>
                    {row.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </>
  );
}

/** Dialog to add or replace a model's calibration and evaluation sets, from this machine or from an experiment. */
export function SetsDialog({
  model: { model_name, origin },
  onChange,
  onClose,
}: {
  model: ModelDetails;
  onChange: () => Promise<void>;
  onClose: () => void;
}) {
  const first = origin.kind === 'artifact' ? origin : { project_id: '', experiment_id: '' };
  const [{ project_id, experiment_id }, setExperiment] = useState(first);
  const [chosen, setChosen] = useState<Sets>();
  const artifacts = useLive(`artifacts/${experiment_id}`, async () =>
    experiment_id === '' ? [] : loadArtifacts({ project_id, experiment_id }),
  );
  const paths = usablePaths(artifacts.data ?? []);
  const isOrigin = origin.kind === 'artifact' && origin.experiment_id === experiment_id;
  const sets = chosen ?? setsBeside(isOrigin ? origin.path : `${model_name}.onnx`, paths);
  return (
    <Dialog title="Sets of the model" onClose={onClose}>
      <p class="soft small">A new set replaces the existing one of the model. Existing results stay.</p>
      <h3>From this machine</h3>
      <div class="form wide">
        <SetUploads nameOf={() => model_name} onDone={onChange} />
      </div>
      <h3>From an experiment</h3>
      <Form
        action="Add these sets"
        isReady={Object.keys(sets).length > 0}
        onSubmit={async () => {
          await addSets(model_name, experiment_id, sets);
          await onChange();
          tell('The sets were added to the model');
          onClose();
        }}
      >
        <ExperimentFields
          project_id={project_id}
          experiment_id={experiment_id}
          onChoose={(project, experiment) => {
            setExperiment({ project_id: project, experiment_id: experiment });
            setChosen(undefined);
          }}
        />
        {experiment_id !== '' && (
          <Loaded live={artifacts} rows={2} what="The files of the experiment could not be loaded">
            {() => <SetFields paths={paths} sets={sets} onSets={setChosen} />}
          </Loaded>
        )}
      </Form>
    </Dialog>
  );
}
