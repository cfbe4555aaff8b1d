# stages
