import { ServiceError } from '../../core/service-error.ts';

/** 400 for a mask, in Flask-RESTX's own words, so that clients made for it recognise them. */
export function maskProblem(message: string): ServiceError {
  return new ServiceError('bad-request', message, { errors: [{ in: 'header', name: 'X-Fields', message }] });
}
