import type { Sets } from '../../../../shared/onnx-models/sets-beside.ts';
import type { Artifact } from '../api/experiments.ts';
import { Field } from '../ui/parts.tsx';

const roles = [
  { role: 'calibration', label: 'Calibration set', hint: 'Inputs from which ranges are observed.' },
  { role: 'evaluation', label: 'Evaluation set', hint: 'Inputs and labels by which accuracy is measured.' },
] as const;

/** Paths of artifacts that may become files of a model: those whose digest is known. */
export const usablePaths = (artifacts: readonly Artifact[]): string[] =>
  artifacts.filter(({ sha256 }) => sha256 !== null).map(({ path }) => path);

/** Which archives of an experiment are the sets of a model; either may be none. */
export function SetFields({
  paths,
  sets,
  onSets,
}: {
  /** Of all artifacts that may be used. */
  paths: readonly string[];
  sets: Sets;
  onSets: (sets: Sets) => void;
}) {
  const archives = paths.filter((path) => /\.npz$/i.test(path));
  if (archives.length === 0)
    return <p class="soft small">The experiment left no npz files, which sets are.</p>;
  return (
    <>
      {roles.map(({ role, label, hint }) => (
        <Field key={role} label={label} hint={hint}>
          {(attributes) => (
            <select
              {...attributes}
              value={sets[role] ?? ''}
              onChange={({ currentTarget: { value } }) => {
                const { [role]: _, ...others } = sets;
                onSets(value === '' ? others : { ...others, [role]: value });
              }}
            >
              <option value="">None</option>
              {archives.map((path) => (
                <option key={path} value={path}>
                  {path}
                </option>
              ))}
            </select>
          )}
        </Field>
      ))}
    </>
  );
}
