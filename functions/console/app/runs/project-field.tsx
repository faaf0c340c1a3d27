import { loadProjects } from '../api/projects.ts';
import { useLive } from '../api/use-live.ts';
import { Field } from '../ui/controls/field.tsx';

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
    <Field label={label}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
          <option value="">{none}</option>
          {projects.data?.map((project) => (
            <option key={project.project_id} value={project.project_id}>
              {project.project_name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
