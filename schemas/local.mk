# schemas
