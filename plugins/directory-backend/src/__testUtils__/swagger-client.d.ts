/** What the tests use of a package that brings no types. */
declare module 'swagger-client' {
  interface ClientRequest {
    readonly url: string;
  }
  interface Client {
    execute(call: {
      readonly operationId: string;
      readonly parameters: Readonly<Record<string, unknown>>;
    }): Promise<{ readonly body: unknown }>;
  }
  export default function SwaggerClient(options: {
    readonly url: string;
    readonly requestInterceptor: (request: ClientRequest) => ClientRequest;
  }): Promise<Client>;
}
