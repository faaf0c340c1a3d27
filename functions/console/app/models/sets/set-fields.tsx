import type { Sets } from '../../../../../shared/onnx-models/sets-beside.ts';
import type { Artifact } from '../../api/experiments.ts';
import { SelectField } from '../../ui/controls/field.tsx';

const roles = [
  { role: 'calibration', label: 'Calibration set', hint: 'Inputs for calibration.' },
  { role: 'evaluation', label: 'Evaluation set', hint: 'Inputs and labels for measuring accuracy.' },
] as const;

/** Return the paths of artifacts that can become model files: those with a known digest. */
export const usablePaths = (artifacts: readonly Artifact[]): string[] =>
  artifacts.filter(({ sha256 }) => sha256 !== null).map(({ path }) => path);

/** Fields to choose the data sets of a model from an experiment's archives. Both are optional. */
export function SetFields({
  paths,
  sets,
  onSets,
}: {
  /** Paths of all usable artifacts. */
  paths: readonly string[];
  sets: Sets;
  onSets: (sets: Sets) => void;
}) {
  const archives = paths.filter((path) => /\.npz$/i.test(path));
  if (archives.length === 0)
    return <p class="soft small">The experiment has no npz files, the format of data sets.</p>;
  return (
    <>
      {roles.map(({ role, label, hint }) => (
        <SelectField<string>
          key={role}
          label={label}
          hint={hint}
          options={[['', 'None'], ...archives.map((path) => [path, path] as const)]}
          value={sets[role] ?? ''}
          onChoose={(value) => {
            const { [role]: _, ...others } = sets;
            onSets(value === '' ? others : { ...others, [role]: value });
          }}
        />
      ))}
    </>
  );
}
