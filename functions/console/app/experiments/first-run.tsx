import { mlflowUploadAssignments } from '../../../../shared/core/mlflow-upload-variables.ts';
import { person, serviceUrl } from '../api/session.ts';
import { LinkButton } from '../ui/controls/button.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';

/** Return the lines that connect an MLflow client to a project, by ID because project names are not unique. */
const mlflowLines = (project_id: string, username: string): string =>
  [
    `export MLFLOW_TRACKING_URI=${serviceUrl}/mlflow`,
    `export MLFLOW_EXPERIMENT_ID=${project_id}`,
    `export MLFLOW_TRACKING_USERNAME=${username}`,
    ...mlflowUploadAssignments.map((assignment) => `export ${assignment}`),
    'read -rs MLFLOW_TRACKING_PASSWORD && export MLFLOW_TRACKING_PASSWORD',
  ].join('\n');

/** Instructions for the first experiment of a project. */
export function FirstRun({ project_id, mayChange }: { project_id: string; mayChange: boolean }) {
  const username = person.value?.username ?? '';
  if (!mayChange)
    return (
      <Empty title="No experiments yet" icon="chart">
        <p>Experiments appear here when somebody trains in this project.</p>
      </Empty>
    );
  return (
    <Empty title="No experiments yet" icon="chart">
      <p>Train from a folder with your program, with the command that this service provides:</p>
      <Command>{`npm install -g ${serviceUrl}/cli/mps.tgz`}</Command>
      <Command>{`mps run -p ${project_id} -- python train.py`}</Command>
      <p>Or record runs from elsewhere in this project, with MLflow:</p>
      <Command>{mlflowLines(project_id, username)}</Command>
      <p class="soft small">
        The last line asks for your password. The two lines before it make MLflow send large files in parts.{' '}
        {username === 'admin' && (
          <>
            On your own machine, the password of <code>admin</code> is in <code>.data/admin-password</code>.{' '}
          </>
        )}
        For programs, create a <a href={href(['account'])}>token</a> and set it as{' '}
        <code>MLFLOW_TRACKING_TOKEN</code> instead of user and password.
      </p>
      <LinkButton href={href(['projects', project_id, 'start'])} icon="play">
        Start a training here
      </LinkButton>
    </Empty>
  );
}
