import { loadProjects } from '../api/projects.ts';
import { useLive } from '../api/use-live.ts';
import { SelectField } from '../ui/controls/field.tsx';

/** Field to choose a project. `none` is the choice of no project, whose value is empty. */
export function ProjectField({
  label,
  none,
  value,
  onChoose,
}: {
  label: string;
  none: string;
  value: string;
  onChoose: (project_id: string) => void;
}) {
  const projects = useLive('projects', loadProjects);
  return (
    <SelectField
      label={label}
      options={[
        ['', none],
        ...(projects.data ?? []).map(({ project_id, project_name }) => [project_id, project_name] as const),
      ]}
      value={value}
      onChoose={onChoose}
    />
  );
}
