import { useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { exportTasks } from '../../../../shared/exports/program/export-settings.ts';
import { targetNames } from '../../../../shared/onnx/strategies/target.ts';
import { exportModel } from '../api/models.ts';
import { ProjectField } from '../runs/project-field.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { go, href } from '../ui/router.ts';
import { type HubExport, hubExport } from './hub-export.ts';
import { LossField } from './loss-field.tsx';

const tasks = Object.fromEntries([['', 'As its files say'], ...exportTasks.map((task) => [task, task])]);
const machines = Object.fromEntries(targetNames.map((name) => [name, name]));

/** Dialog that exports a model of the Hugging Face Hub in a project, and compresses it. */
export function HubDialog({ onClose }: { onClose: () => void }) {
  const [fields, setFields] = useState<HubExport>({
    project_id: '',
    id: '',
    name: '',
    task: '',
    loss: '0.5',
    target: 'any',
  });
  /** Fault of the model or of its name, until that is changed. */
  const [fault, setFault] = useState<{ field: 'source' | 'name'; message: string }>();
  const set = (next: Partial<HubExport>) => setFields({ ...fields, ...next });
  const asked = hubExport(fields);
  const start = async () => {
    if (asked === undefined) return;
    try {
      const { experiment_id } = await exportModel(asked.body);
      go(href(['projects', fields.project_id, 'experiments', experiment_id]));
    } catch (error) {
      const [first, ...others] = error instanceof ProblemError ? error.faults : [];
      const field = (['source', 'name'] as const).find((name) => first?.name.split('.')[0] === name);
      if (first === undefined || others.length > 0 || field === undefined) throw error;
      setFault({ field, message: first.message });
    }
  };
  return (
    <Dialog title="A model from Hugging Face" onClose={onClose}>
      <Form action="Start" onSubmit={start} isReady={asked !== undefined && fields.project_id !== ''} wide>
        <TextField
          label="Model"
          hint="OWNER/NAME, OWNER/NAME@REVISION or the address of its page, such as sentence-transformers/all-MiniLM-L6-v2. A token of the Hub is the variable HF_TOKEN of the project."
          spellcheck={false}
          autocapitalize="none"
          autofocus
          error={fault?.field === 'source' ? fault.message : undefined}
          value={fields.id}
          onText={(id) => {
            setFault(undefined);
            set({ id });
          }}
        />
        <TextField
          label="Name"
          hint="Name of the registered model, if not that of the model of the Hub. The small one has -small behind it."
          spellcheck={false}
          autocapitalize="none"
          error={fault?.field === 'name' ? fault.message : undefined}
          value={fields.name}
          onText={(name) => {
            setFault(undefined);
            set({ name });
          }}
        />
        <ProjectField
          label="Project"
          none="Choose a project"
          value={fields.project_id}
          onChoose={(project_id) => set({ project_id })}
        />
        <div class="field-row">
          <SelectField
            label="Task"
            options={tasks}
            value={fields.task}
            onChoose={(task) => set({ task: exportTasks.find((known) => known === task) ?? '' })}
          />
          <SelectField
            label="Processor or machine"
            options={machines}
            value={fields.target}
            onChoose={(target) => set({ target })}
          />
        </div>
        <LossField loss={fields.loss} hasEvaluation onLoss={(loss) => set({ loss })} />
        {asked && (
          <>
            <p class="soft small">The same in a terminal:</p>
            <Command>{asked.command}</Command>
          </>
        )}
      </Form>
    </Dialog>
  );
}
