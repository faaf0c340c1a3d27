import { mlflowUploadAssignments } from '../../core/mlflow-upload-variables.ts';
import { type ErrorKind, ServiceError } from '../../core/service-error.ts';
import { datasetTextsMaxBytes } from '../../experiments/dataset-texts.ts';
import type { ProblemDocument } from '../../http/definition/problem.ts';

/** An error with MLflow's code. */
export const mlflowError = (code: keyof typeof kinds, message: string): ServiceError =>
  new ServiceError(kinds[code], message, { code });

/** MLflow's error codes, each with the error kind that determines its HTTP status. */
const kinds = {
  RESOURCE_DOES_NOT_EXIST: 'not-found',
  ENDPOINT_NOT_FOUND: 'not-found',
  RESOURCE_ALREADY_EXISTS: 'bad-request',
  INVALID_PARAMETER_VALUE: 'bad-request',
  BAD_REQUEST: 'bad-request',
  PERMISSION_DENIED: 'forbidden',
} as const satisfies Record<string, ErrorKind>;

/** Create an `INVALID_PARAMETER_VALUE` error in the wording that clients expect. */
export const invalidValue = (name: string, value: unknown, reason: string): ServiceError =>
  mlflowError(
    'INVALID_PARAMETER_VALUE',
    `Invalid value ${JSON.stringify(value) ?? 'null'} for parameter '${name}' supplied: ${reason}`,
  );

export const doesNotExist = (message: string): ServiceError =>
  mlflowError('RESOURCE_DOES_NOT_EXIST', message);

/** Error body in MLflow's format. */
export const errorBody = ({ status, error, message }: ProblemDocument): object => ({
  error_code:
    typeof error === 'string' && Object.hasOwn(kinds, error)
      ? error
      : (codesByStatus[status] ?? 'INTERNAL_ERROR'),
  message: status === 413 ? `${message} ${inParts}` : message,
});

/** Codes of errors that have no MLflow code. Only the user who caused a conflict may repeat its request. */
const codesByStatus: Readonly<Record<number, string>> = {
  400: 'INVALID_PARAMETER_VALUE',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  405: 'ENDPOINT_NOT_FOUND',
  404: 'RESOURCE_DOES_NOT_EXIST',
  409: 'RESOURCE_CONFLICT',
  413: 'INVALID_PARAMETER_VALUE',
  415: 'INVALID_PARAMETER_VALUE',
  429: 'REQUEST_LIMIT_EXCEEDED',
  503: 'TEMPORARILY_UNAVAILABLE',
};

/** Hint that tells a user how to upload large files in parts. Other large requests have no parts. */
const inParts = `If it is a file, set ${mlflowUploadAssignments.join(' and ')} to make the client send it in parts. Sources, schemas and profiles of a run's data sets may have ${datasetTextsMaxBytes} bytes together.`;
