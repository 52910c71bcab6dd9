export interface Config {
  auth?: {
    providers?: {
      /**
       * The sign-in page offers the guest where the guest provider lets people
       * in: in development, or where `dangerouslyAllowOutsideDevelopment` is set.
       *
       * @visibility frontend
       */
      guest?: {
        /** @visibility frontend */
        userEntityRef?: string;
        /** @visibility frontend */
        dangerouslyAllowOutsideDevelopment?: boolean;
      };
    };
  };
}
